/** A loop over a group in memory, whose pool, disk and clock do as a test tells them. */
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import type { Outcome } from '../../../src/errors.js';
import { GroupActor } from '../../../src/group/actor/actor.js';
import { GroupLoop, type LoopDeps } from '../../../src/group/actor/loop.js';
import type { Resolve } from '../../../src/group/actor/turn.js';
import type { Answer, Command } from '../../../src/group/actor-commands.js';
import { DiskWatch } from '../../../src/group/health/disk-watch.js';
import type { GroupPool } from '../../../src/group/ports/pool.js';
import type { DiskUse, LogWriter } from '../../../src/group/ports/storage.js';
import { lastSeqOf, recover } from '../../../src/group/recovery/recovery.js';
import { redactPiece } from '../../../src/group/removal/redaction.js';
import { Replica } from '../../../src/group/replica/replica.js';
import { timers } from '../../../src/node/system.js';
import { deferred } from '../../support/deferred.js';
import { bounds, salt, submissionOf, t0 } from '../../support/given.js';
import { MemorySnapshotStore } from '../../support/memory-snapshots.js';
import { submit } from '../commands.js';
import { Machine } from '../machine.js';

/**
 * A group with one event of a player, and a pool whose redactions wait for `pass`. `calls`: what the pool was asked,
 * and when snapshots went; `observed`: the calls of the metrics.
 */
export async function grown(
  onFatal: (error: unknown) => void = (error) => assert.unreachable(String(error)),
  more: Partial<LoopDeps> = {},
) {
  const use: DiskUse = { freeBytes: 1e9, logBytes: 0, snapshotsBytes: 0, newestSnapshotBytes: 0 };
  const gauge = {
    bytes: use.freeBytes,
    freeBytes: () => gauge.bytes,
    look: async () => ({ ...use, freeBytes: gauge.bytes }),
  };
  const disk = new DiskWatch({
    gauge,
    timers,
    minBytes: 0,
    onChange: (low) => loop.diskChanged(low),
    onFailure: (error) => assert.unreachable(String(error)),
  });
  await disk.look();
  const released: number[] = [];
  const { log } = await Machine.withPeers(1);
  const writer = log.acquire();
  const snapshots = new MemorySnapshotStore();
  const { follower } = recover(writer, snapshots, salt, lastSeqOf(writer))!;
  const actor = new GroupActor<Resolve>(follower, bounds);
  const replica = new Replica(log, snapshots, salt);
  const calls: string[] = [];
  const observed: string[] = [];
  const { promise: passed, resolve: pass } = deferred();
  const pool: Partial<GroupPool> = {
    async snapshot(upTo, epoch) {
      const made = await replica.snapshot(upTo, epoch);
      return made && { ...made, ms: 1 };
    },
    async follow(upTo) {
      calls.push('follow');
      replica.follow(upTo);
    },
    async redact(work) {
      calls.push('redact');
      await passed;
      const piece = redactPiece(log, work);
      calls.push('redacted');
      return piece;
    },
    weights: () => new Promise(() => undefined),
  };
  const remove = snapshots.remove.bind(snapshots);
  snapshots.remove = (seq) => {
    calls.push('remove');
    return remove(seq);
  };
  const nothing = () => undefined;
  const deps: LoopDeps = {
    actor,
    log: writer,
    snapshots,
    recoveredFrom: 0,
    pool: pool as GroupPool,
    disk,
    reserve: {
      during(act) {
        released.push(gauge.bytes);
        return act(false);
      },
    },
    clock: { now: () => t0 },
    clockGuard: { clockAhead: false, isAheadNow: () => false },
    timers,
    random: { bytes: (length) => Buffer.alloc(length), uuid: () => 'id' },
    observer: { turnCommitted: () => void observed.push('committed'), eventsDecided: nothing, workDone: nothing },
    snapshotEvery: Number.POSITIVE_INFINITY,
    weightsIntervalMs: 1e9,
    publishErasures: async () => undefined,
    onFatal,
    onFailure: (what, error) => assert.unreachable(`${what}: ${error}`),
    ...more,
  };
  const loop = new GroupLoop(deps);
  const ask = (command: Command) =>
    new Promise<Answer>((resolve) =>
      assert.is(loop.admit({ command, token: resolve, events: 1, bytes: 100, holder: null }), undefined),
    );
  let sent = 0;
  /** Submits an event of the player, and returns its outcome. */
  const report = async (eventId: string) => {
    const answer = await ask(submit(submissionOf(eventId, 'victim', { timestamp: t0 - sent++ })));
    return (answer as Outcome<unknown>[])[0]!;
  };
  await report('e');
  await loop.snapshotNow();
  await turnOfLoop();
  observed.length = 0;
  released.length = 0;
  return { loop, deps, writer, snapshots, calls, observed, pass, ask, report, gauge, released };
}

/** The code of a refusal, and its details. */
export const refusedAs = (answer: unknown) => {
  const { code, details } = answer as { code?: string; details?: unknown };
  return [code, details];
};

export const unavailable = (reason: string) => ['dependency_unavailable', { reason }];

/** Holds back every append of the writer until the function it returns is called. */
export function holdAppends(writer: LogWriter): () => void {
  const append = writer.append.bind(writer);
  const { promise: arrived, resolve: arrive } = deferred();
  writer.append = async (...batch) => {
    await arrived;
    await append(...batch);
  };
  return arrive;
}
