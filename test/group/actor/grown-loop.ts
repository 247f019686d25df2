/** A loop over a group in memory, whose pool, disk and clock do as a test tells them. */
import * as assert from 'uvu/assert';
import { BatchWriter, chainStart, NONCE_BYTES } from '../../../src/core/records/batch.js';
import { GroupActor } from '../../../src/group/actor/actor.js';
import { GroupLoop, type LoopDeps } from '../../../src/group/actor/loop.js';
import type { Resolve } from '../../../src/group/actor/turn.js';
import type { Answer, Command } from '../../../src/group/actor-commands.js';
import { DiskWatch } from '../../../src/group/health/disk-watch.js';
import type { GroupPool } from '../../../src/group/ports/pool.js';
import type { DiskGauge, DiskUse } from '../../../src/group/ports/storage.js';
import { lastSeqOf, recover } from '../../../src/group/recovery/recovery.js';
import { Replica } from '../../../src/group/replica/replica.js';
import { timers } from '../../../src/node/system.js';
import { deferred } from '../../support/deferred.js';
import { bounds, formedRecord, salt, subjectKeyOf, subjectOf, t0 } from '../../support/given.js';
import { MemoryLog } from '../../support/memory-log.js';
import { MemorySnapshotStore } from '../../support/memory-snapshots.js';

/** A disk of which a test decides how much is free. */
class TestGauge implements DiskGauge {
  bytes = 1e9;

  freeBytes(): number {
    return this.bytes;
  }

  async look(): Promise<DiskUse> {
    return { freeBytes: this.bytes, logBytes: 0, snapshotsBytes: 0, newestSnapshotBytes: 0 };
  }
}

/**
 * A group with one event of a player, and a pool whose redactions wait for `pass`. `calls`: what the pool was asked,
 * and when snapshots went; `observed`: the calls of the metrics.
 */
export async function grown(
  onFatal: (error: unknown) => void = (error) => assert.unreachable(String(error)),
  more: Partial<LoopDeps> = {},
) {
  const gauge = new TestGauge();
  const disk = new DiskWatch({
    gauge,
    timers,
    minBytes: 0,
    onChange: (low) => loop.diskChanged(low),
    onFailure: (error) => assert.unreachable(String(error)),
  });
  await disk.look();
  const released: number[] = [];
  const log = new MemoryLog();
  const first = new BatchWriter();
  first.add(formedRecord(30));
  const writer = log.acquire();
  await writer.append(first.seal(1, t0, Buffer.alloc(NONCE_BYTES), chainStart), []);
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
      const piece = replica.redact(work);
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
  await ask({ type: 'register', peerId: 'peer-0', peerName: 'P', gameIds: ['g1'], keyDigest: 'key', by: 't' });
  const event = { schemaVersion: '1.0.0', eventType: 'report_cheating', peerId: 'peer-0' } as const;
  const rest = { subject: subjectKeyOf('victim'), gameId: 'g1', severity: 1 };
  let sent = 0;
  const submit = (eventId: string) => {
    const timestamp = t0 - sent++;
    return ask({ type: 'submit', caller: null, events: [{ ...event, ...rest, eventId, timestamp }] });
  };
  await submit('e');
  await loop.snapshotNow();
  const erase = () => ask({ type: 'erase', caller: -2, subject: subjectOf('victim'), commitment: 'c', by: 't' });
  return { loop, deps, writer, snapshots, calls, observed, pass, ask, submit, erase, gauge, released };
}

/** The code of a refusal, and its details. */
export const refusedAs = (answer: Answer | undefined) => {
  const { code, details } = answer as { code?: string; details?: unknown };
  return [code, details];
};
