/**
 * When log and snapshots are checked in the background, and what stands of it; and that a living log is not taken for a
 * damaged one.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Batch } from '../../../src/core/records/batch.js';
import type { OnProgress, VerifyReport } from '../../../src/group/api.js';
import { DamagedError, type StoredBatch } from '../../../src/group/ports/storage.js';
import { lastSeqOf } from '../../../src/group/recovery/recovery.js';
import { BackgroundCheck } from '../../../src/group/recovery/scheduled-check.js';
import { verifySteps } from '../../../src/group/recovery/verification.js';
import { rejection } from '../../store/log-contract.js';
import { submissionOf, t0 } from '../../support/given.js';
import { logOf } from '../../support/log-of.js';
import { MemorySnapshotStore } from '../../support/memory-snapshots.js';
import { verifyStore } from '../../support/verify-store.js';
import { erase, submit } from '../commands.js';
import { copyLog } from '../life.js';
import { Machine } from '../machine.js';

const times = { checkFirstMs: 600, checkEveryMs: 1_000 };

/** Timers that a test advances, and a pool whose checks it ends. */
function bench() {
  let now = 0;
  let planned: { at: number; act: () => void } | null = null;
  const timers = {
    elapsed: () => now,
    soon: () => assert.unreachable('a check is never urgent'),
    later(act: () => void, ms: number) {
      planned = { at: now + ms, act };
      return () => {
        planned = null;
      };
    },
  };
  const asked: { onProgress: OnProgress; signal: AbortSignal; end: (report: VerifyReport | Error) => void }[] = [];
  const pool = {
    check: (onProgress: OnProgress, signal: AbortSignal) =>
      new Promise<VerifyReport>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')));
        const end = (report: VerifyReport | Error) => (report instanceof Error ? reject(report) : resolve(report));
        asked.push({ onProgress, signal, end });
      }),
  };
  const reports: VerifyReport[] = [];
  const troubles: unknown[] = [];
  const clock = { now: () => t0 + now };
  const onReport = (report: VerifyReport) => reports.push(report);
  const onFailure = (error: unknown) => troubles.push(error);
  const check = new BackgroundCheck({ pool, timers, clock, onReport, onFailure }, times);
  /** Moves time on; answers whether something was planned for then. */
  const advance = (ms: number) => {
    now += ms;
    if (planned === null || planned.at > now) return false;
    const { act } = planned;
    planned = null;
    act();
    return true;
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { check, asked, reports, troubles, advance, settle };
}

const counts = { lastSeq: 90, batches: 9, records: 90, auditEntries: 1 };
const held: VerifyReport = { ok: true, ...counts, snapshots: [], faults: [] };

test('the first check begins a while after the start, each next one a period after the last began', async () => {
  const { check, asked, advance, settle, reports } = bench();
  check.start();
  assert.is(advance(599), false);
  assert.is(advance(1), true);
  asked[0]!.onProgress(40, 90);
  assert.equal(check.status, { running: true, checkedSeq: 40, endedAt: null, faults: [] });
  advance(300);
  asked[0]!.end(held);
  await settle();
  assert.equal(check.status, { running: false, checkedSeq: 90, endedAt: t0 + 900, faults: [] });
  assert.is(advance(699), false);
  assert.is(advance(1), true);
  assert.is(asked.length, 2);
  advance(5_000);
  asked[1]!.end(held);
  await settle();
  assert.is(advance(0), true, 'one that took longer than the period is followed at once');
  assert.is(reports.length, 2);
});

test('the result of a check stays until the next check has ended, and a failed check is repeated', async () => {
  const { check, asked, advance, settle, troubles } = bench();
  check.start();
  advance(600);
  asked[0]!.end({ ...held, ok: false, faults: ['log batch at record 7: checksum differs'] });
  await settle();
  advance(1_000);
  assert.equal(check.status.faults, ['log batch at record 7: checksum differs']);
  asked[1]!.end(new Error('no more processes'));
  await settle();
  assert.equal([check.status.running, check.status.faults.length, troubles.length], [false, 1, 1]);
  assert.is(advance(1_000), true);
  asked[2]!.end(held);
  await settle();
  assert.equal(check.status.faults, []);
});

test('a stop ends the check under way, and nothing is planned behind it', async () => {
  const { check, asked, advance, troubles } = bench();
  check.start();
  advance(600);
  await check.stop();
  assert.ok(asked[0]!.signal.aborted);
  assert.equal(troubles, []);
  assert.is(advance(10_000), false);
});

async function lived(): Promise<Machine> {
  const machine = await Machine.withPeers(1);
  for (let i = 0; i < 600; i++) await machine.ask(`e${i}`, submit(submissionOf(`e${i}`, `player ${i % 3}`)));
  return machine;
}

/** Sends events about several players in one batch. */
const reportTogether = (machine: Machine, ...players: string[]) =>
  machine.ask('together', submit(...players.map((player) => submissionOf(`of ${player}`, player))));

const eraseFrom = (machine: Machine, player: string) => machine.ask(player, erase(player));

/** Runs a check to its end, and asserts that it finds the log intact. */
function assertPasses(steps: ReturnType<typeof verifySteps>): VerifyReport {
  let step = steps.next();
  while (!step.done) step = steps.next();
  assert.equal(step.value.faults, []);
  return step.value;
}

test('batches that an erasure rewrites where a running check has passed, even twice, are no damage', async () => {
  const machine = await lived();
  await eraseFrom(machine, 'player 0');
  const steps = verifySteps(machine.log, machine.snapshots, null, 'background');
  // 512 batches are read at a time: the walk stands behind batches that it found rewritten.
  assert.is(steps.next().done, false);
  await eraseFrom(machine, 'player 1');
  assert.is(assertPasses(steps).lastSeq, machine.actor.durableSeq);
});

test('a batch that two erasures rewrite where a check has passed is no damage', async () => {
  const machine = await lived();
  await reportTogether(machine, 'both 0', 'both 1');
  await eraseFrom(machine, 'both 0');
  const steps = verifySteps(machine.log, machine.snapshots, null, 'background');
  for (const _ of [1, 2]) assert.is(steps.next().done, false);
  await eraseFrom(machine, 'both 1');
  assertPasses(steps);
});

test('rewritten content that no record accounts for is still damage', async () => {
  const machine = await lived();
  const batches = machine.log.from(0, 1_000, 1e9);
  const forged = new Batch(batches[300]!.bytes);
  const other = { type: 'epoch_moved', epoch: 1, factor: 1 } as const;
  batches[300] = { firstSeq: forged.firstSeq, bytes: forged.rewrite(new Map([[forged.firstSeq, other]])).bytes };
  for (const mode of ['full', 'background'] as const) {
    const { faults } = verifyStore(logOf(batches), machine.snapshots, null, mode);
    assert.match(faults[0]!, /record 301: .*no record accounts/);
  }
});

test('a batch that returned to its content before an erasure is damage, to a check and to a copy', async () => {
  const machine = await lived();
  const players = ['player 0', 'player 1'];
  await reportTogether(machine, ...players);
  const batch = lastSeqOf(machine.log) - 1;
  const earlier: StoredBatch[] = [];
  for (const player of players) {
    earlier.push(machine.log.at(batch)!);
    await eraseFrom(machine, player);
  }
  const stored = machine.log.from(0, 2_000, 1e9);
  assert.equal(verifyStore(logOf(stored), machine.snapshots, null, 'full').faults, []);
  for (const back of earlier) {
    const log = logOf(stored.map((now) => (now.firstSeq === batch ? back : now)));
    const fault = `record ${batch}: no record accounts for its rewritten content`;
    assert.match(verifyStore(log, machine.snapshots, null, 'full').faults.join(), fault);
    const sink = { add: async () => undefined, replace: async () => undefined };
    assert.match(String(await rejection(copyLog(log, sink, () => undefined))), fault);
  }
});

test('a snapshot with a damaged block is found without loading it, and one removed meanwhile is none', async () => {
  const machine = await lived();
  await machine.snapshot();
  const [seq] = machine.snapshots.list() as [number];
  let listed = [seq];
  const gone = Object.assign(new MemorySnapshotStore(), {
    list: () => listed,
    readHeader: () => {
      listed = [];
      throw new DamagedError('the file is missing');
    },
  });
  machine.snapshots.damage(seq);
  const { faults } = verifyStore(machine.log, machine.snapshots, null, 'background');
  assert.match(faults[0]!, new RegExp(`snapshot ${seq}`));
  assert.equal(verifyStore(machine.log, gone, null, 'background').faults, []);
});

test.run();
