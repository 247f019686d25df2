/** When the last snapshot of a stop is begun. When others are, the simulation and the nodes of other tests show. */
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SnapshotWork } from '../../../src/group/replica/snapshot-work.js';
import { rejection } from '../../store/log-contract.js';
import { MemorySnapshotStore } from '../../support/memory-snapshots.js';

/**
 * Snapshots that take `ms` each, of a group whose newest record the test moves, and which was recovered from one of
 * those in `store`.
 */
function snapshotsOf(ms: number, store = new MemorySnapshotStore(), recoveredFrom = 0) {
  const stand = {
    storedSeq: 1,
    begun: 0,
    failing: false,
    forbidsSnapshots: false,
    now: 0,
    later: [] as { act: () => void; ms: number }[],
    declining: false,
    disk: { fitsSnapshot: true },
    /** The outcomes that the observer was told. */
    done: [] as string[],
    tookMs: 0,
  };
  const work = new SnapshotWork(
    {
      log: { epoch: 1 },
      snapshots: store,
      recoveredFrom,
      pool: {
        async snapshot(seq) {
          stand.begun += 1;
          if (stand.failing) throw new Error('as told');
          if (stand.declining) return null;
          await store.write(headerOf(seq), []);
          return { seq, ms };
        },
      },
      disk: stand.disk,
      timers: { elapsed: () => stand.now },
      observer: {
        workDone(_work, isMade, tookMs) {
          stand.done.push(isMade ? 'made' : 'failed');
          stand.tookMs = tookMs;
        },
      },
      snapshotEvery: 1_000,
      onFailure: (what, error) => assert.ok(stand.failing, `${what}: ${error}`),
    },
    {
      storedSeq: () => stand.storedSeq,
      forbidsSnapshots: () => stand.forbidsSnapshots,
      ending: () => false,
      closed: () => false,
      later: (act, ms) => stand.later.push({ act, ms }),
    },
  );
  return { work, stand };
}

const headerOf = (seq: number) => ({ version: 1, seq, chain: '', digest: '', epoch: 1 });

test('a last snapshot is not begun if the newest one took longer than the remaining time, or none remains', async () => {
  const { work, stand } = snapshotsOf(5_001);
  for (const [storedSeq, leftMs, isLast, begun, why] of [
    [1, 0, false, 0, 'no time is left'],
    [1, 5_000, true, 1, 'nothing says what the first takes'],
    [1, 0, true, 1, 'the newest covers all, however little time there is'],
    [2, 5_000, false, 1, 'the newest one took longer'],
    [2, 5_001, true, 2, 'it fits'],
  ] as const) {
    stand.storedSeq = storedSeq;
    assert.equal([await work.makeLast(() => leftMs), stand.begun], [isLast, begun], why);
  }
});

test('during an erasure no snapshot is made, not even the last one, which would name the player', async () => {
  const { work, stand } = snapshotsOf(1);
  stand.storedSeq = 1_000;
  stand.forbidsSnapshots = true;
  work.makeIfDue();
  assert.equal([await work.makeLast(() => 5_000), stand.begun], [true, 0]);
  stand.forbidsSnapshots = false;
  assert.equal([await work.makeLast(() => 5_000), stand.begun], [true, 1]);
});

test('the time that is left counts from the end of a snapshot that was being made', async () => {
  const { work, stand } = snapshotsOf(10);
  stand.storedSeq = 1_000;
  work.makeIfDue();
  stand.storedSeq = 1_001;
  let left = 100;
  const last = work.makeLast(() => left);
  left = 9;
  assert.equal([await last, stand.begun], [false, 1]);
});

test('records that arrive during a snapshot are considered at its end, without a further write', async () => {
  const { work, stand } = snapshotsOf(1);
  stand.storedSeq = 1_000;
  work.makeIfDue();
  stand.storedSeq = 3_000;
  work.makeIfDue();
  assert.is(stand.begun, 1);
  await turnOfLoop();
  for (const { act } of stand.later.splice(0)) act();
  assert.is(stand.begun, 2);
});

// Found by review: a node at rest, whose only snapshots an erasure had removed, went on without any.
test('a snapshot that failed is tried again, though nothing is written meanwhile', async () => {
  const { work, stand } = snapshotsOf(1);
  stand.storedSeq = 1_000;
  stand.failing = true;
  work.makeIfDue();
  await turnOfLoop();
  assert.is(stand.begun, 1);
  stand.failing = false;
  for (const { act, ms } of stand.later.splice(0)) {
    stand.now += ms;
    act();
  }
  assert.is(stand.begun, 2);
});

// Found by review: each start said that the newest was damaged and left it there, and the next one took the place of
// the good one.
test('a snapshot that recovery could not use is replaced at once, and costs no other', async () => {
  for (const written of [0, 1]) {
    const store = new MemorySnapshotStore();
    for (const seq of [23, 43]) await store.write(headerOf(seq), []);
    const { work, stand } = snapshotsOf(1, store, 23);
    stand.storedSeq = 43 + written;
    work.makeIfDue();
    await work.makeLast(() => Number.POSITIVE_INFINITY);
    assert.is(stand.begun, 1);
    assert.equal(store.list(), [43 + written, 23]);
  }
});

test('only the newest two snapshots stay, and the work is done once the others are gone', async () => {
  const store = new MemorySnapshotStore();
  const { work, stand } = snapshotsOf(1, store);
  const remove = store.remove.bind(store);
  store.remove = async (seq) => {
    await turnOfLoop();
    await remove(seq);
    stand.now += 40;
    stand.done.push(`removed ${seq}`);
  };
  for (stand.storedSeq of [1_000, 2_000, 3_000, 4_000]) await work.makeLast(() => 1_000);
  assert.equal(store.list(), [4_000, 3_000]);
  assert.equal(stand.done, ['made', 'made', 'removed 1000', 'made', 'removed 2000', 'made']);
  assert.is(stand.tookMs, 40);
});

test('a snapshot that the pool declines to write is neither done nor failed', async () => {
  const { work, stand } = snapshotsOf(1);
  stand.declining = true;
  assert.is(await work.makeLast(() => 1_000), true);
  assert.equal([stand.begun, stand.done], [1, []]);
});

test('no snapshot is begun while too little disk space is free for one', async () => {
  const { work, stand } = snapshotsOf(1);
  stand.disk.fitsSnapshot = false;
  assert.match(String(await rejection(work.makeLast(() => 1_000))), 'too little disk space is free');
  assert.equal([stand.begun, stand.done], [0, ['failed']]);
});

test('all snapshots are dropped with what an interrupted one left', async () => {
  const store = new MemorySnapshotStore();
  let sweeps = 0;
  store.sweep = async () => {
    sweeps += 1;
  };
  const { work } = snapshotsOf(1, store);
  await work.makeLast(() => 5_000);
  assert.is(store.list().length, 1);
  await work.drop();
  assert.equal([store.list(), sweeps], [[], 1]);
});

test.run();
