/**
 * The shell around an actor when the pool answers late. The simulation and the tests of nodes cover its other parts.
 */
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Refusal } from '../../../src/errors.js';
import { GroupActor } from '../../../src/group/actor/actor.js';
import { GroupLoop } from '../../../src/group/actor/loop.js';
import type { Resolve } from '../../../src/group/actor/turn.js';
import type { GroupPool } from '../../../src/group/ports/pool.js';
import type { LogWriter } from '../../../src/group/ports/storage.js';
import { lastSeqOf, recover } from '../../../src/group/recovery/recovery.js';
import { limits } from '../../../src/limits.js';
import { timers } from '../../../src/node/system.js';
import { deferred } from '../../support/deferred.js';
import { bounds, salt, t0 } from '../../support/given.js';
import { MemoryLog } from '../../support/memory-log.js';
import { MemorySnapshotStore } from '../../support/memory-snapshots.js';
import { until } from '../../support/until.js';
import { codeOf, erase } from '../commands.js';
import { grown, holdAppends, refusedAs, unavailable } from './grown-loop.js';

/** An erasure whose redaction is under way until `pass`; `settled`: all that follows without a timer is done. */
async function erasing(given?: Awaited<ReturnType<typeof grown>>) {
  const made = given ?? (await grown());
  const { calls } = made;
  const erased = made.ask(erase('victim'));
  await until(() => calls.includes('redact'));
  const settled = async () => {
    await until(() => calls.includes('redacted'));
    await turnOfLoop();
    await turnOfLoop();
  };
  return { ...made, erased, settled };
}

/** Files of a log that are behind it from record `from` on; null where they hold everything. */
function storedLate(log: LogWriter) {
  const files = { from: null as number | null, stored: Promise.resolve() };
  Object.defineProperty(log, 'storingFrom', { get: () => files.from });
  log.stored = () => files.stored;
  return files;
}

test('an answer resolves the promises of its request before any other work on its commit', async () => {
  const { observed, report } = await grown();
  const passedOn = async () => codeOf(await report('e2'));
  observed.push(await passedOn());
  await turnOfLoop();
  assert.equal(observed, ['ok', 'committed']);
});

// Found by review: a replica that began to load before the snapshots went read of a player whom the log did not name
// any more.
test('a replica is asked again to have read everything after an erasure deleted the snapshots', async () => {
  const { loop, calls, pass, erased } = await erasing();
  pass();
  assert.is(codeOf(await erased), 'ok');
  assert.equal(calls.slice(calls.indexOf('redact')), ['redact', 'redacted', 'follow', 'remove', 'follow']);
  await loop.drain();
});

// Found by review: the piece came back behind the last snapshot, and removed it.
test('a stop during an erasure keeps the last snapshot', async () => {
  const { loop, snapshots, calls, pass, erased, settled } = await erasing();
  loop.endSoon(1);
  // The node's own timers keep no process alive.
  const awake = setInterval(() => undefined, 1_000);
  const [answer] = await Promise.all([erased, loop.drain()]).finally(() => clearInterval(awake));
  assert.equal((answer as Refusal).details, { recorded: true });
  await loop.snapshotNow();
  const before = snapshots.list();
  pass();
  await settled();
  assert.equal(snapshots.list(), before);
  assert.not(calls.includes('remove'));
});

test('a node that failed during an erasure keeps its snapshots', async () => {
  const { loop, snapshots, pass, settled } = await erasing();
  loop.abandon();
  pass();
  await settled();
  assert.is(snapshots.list().length, 1);
});

test('a demoted node answers the callers of recorded erasures that the next leader continues them', async () => {
  const { loop, pass, erased, settled } = await erasing();
  loop.follow();
  const { text, details } = (await erased) as Refusal;
  assert.match(text ?? '', /continues on the next leader/);
  assert.equal(details, { recorded: true });
  pass();
  await settled();
});

test('a piece of an erasure is not committed on a full disk, and goes on with room', async () => {
  const { loop, writer, pass, erased, settled, gauge } = await erasing();
  gauge.bytes = 0;
  await loop.disk.look();
  const append = writer.append.bind(writer);
  writer.append = async () => assert.unreachable('a commit on a full disk');
  pass();
  await settled();
  writer.append = append;
  gauge.bytes = 1e9;
  await loop.disk.look();
  assert.is(codeOf(await erased), 'ok');
  await loop.drain();
});

test('a drain that waits for answers ends when a commit fails, as none will come', async () => {
  const failures: unknown[] = [];
  const { loop, writer, report } = await grown((error) => failures.push(error));
  const fault = new Error('the disk is gone');
  const { promise: failing, resolve: fail } = deferred();
  writer.append = () => failing.then(() => Promise.reject(fault));
  void report('never answered');
  await turnOfLoop();
  const drained = loop.drain();
  fail();
  await drained;
  assert.equal(failures, [fault]);
});

test('a change by the operator is written on a full disk, in the space of the reserve', async () => {
  const { loop, ask, gauge, released } = await grown();
  gauge.bytes = 0;
  await loop.disk.look();
  const suspended = await ask({ type: 'peer_status', peerId: 'peer-0', status: 'suspended', by: 't' });
  assert.equal([codeOf(suspended), released], ['ok', [0]]);
});

test('on a full disk no snapshot is made and no weights are computed, and what is due follows with room', async () => {
  let now = t0;
  const done: string[] = [];
  const pool: Partial<GroupPool> = {
    async snapshot(seq) {
      done.push('snapshot');
      return { seq, ms: 0 };
    },
    follow: async () => undefined,
    async weights() {
      done.push('weights');
      throw new Error('not in this test');
    },
  };
  const { loop, ask, gauge } = await grown(undefined, {
    pool: pool as GroupPool,
    clock: { now: () => now },
    snapshotEvery: 1,
    onFailure: (what) => void done.push(`${what} failed`),
  });
  await until(() => done.includes('computing peer weights failed'));
  gauge.bytes = 0;
  await loop.disk.look();
  done.length = 0;
  now += 2e9;
  const change = (status: 'suspended' | 'active') => ask({ type: 'peer_status', peerId: 'peer-0', status, by: 't' });
  // As many records as make a snapshot due.
  for (const status of ['suspended', 'active', 'suspended'] as const) await change(status);
  await until(() => done.length > 0);
  await turnOfLoop();
  assert.equal(done.splice(0), ['snapshot failed']);
  gauge.bytes = 1e9;
  await loop.disk.look();
  await change('active');
  await until(() => done.length >= 3);
  assert.equal(done.sort(), ['computing peer weights failed', 'snapshot', 'weights']);
});

test('a loop that another one replaces refuses its waiting commands', async () => {
  const { loop, ask } = await grown();
  const waiting = ask({ type: 'locate', eventId: 'e' });
  loop.replace();
  assert.is(codeOf(await waiting), 'dependency_unavailable');
});

// Found by review: a write in flight made the loop answer every later erasure before its bytes had left the log.
test('a loop that leads again answers an erasure once it is complete, also if a write was in flight', async () => {
  const made = await grown();
  const { loop, pass, report } = made;
  const arrive = holdAppends(made.writer);
  const inFlight = report('e2');
  await turnOfLoop();
  loop.follow();
  const details = { reason: 'log_unreachable', recorded: true };
  assert.equal(refusedAs(await inFlight), ['dependency_unavailable', details]);
  arrive();
  await until(() => loop.actor.isSettled);
  loop.lead();
  const { erased } = await erasing(made);
  let isAnswered = false;
  void erased.then(() => {
    isAnswered = true;
  });
  await turnOfLoop();
  assert.not(isAnswered);
  pass();
  assert.is(codeOf(await erased), 'ok');
  await loop.drain();
});

test('a command whose records an older node could not read is refused until every node reads them', async () => {
  let formatMax = 1;
  const { loop, report } = await grown(undefined, { formatMax: () => formatMax });
  const command = { type: 'scoring' } as const;
  const admit = () => loop.admit({ command, token: () => undefined, events: 1, bytes: 100, holder: null });
  assert.equal(refusedAs(admit()), unavailable('mixed_releases'));
  assert.is(codeOf(await report('e2')), 'ok');
  formatMax = 2;
  assert.is(admit(), undefined);
});

/** A follower of a group whose leader has erased the player: it has none of `slots`, and its files are behind. */
async function followerOfErasure(snapshotEvery: number) {
  const { deps, writer, pass, ask } = await grown();
  const copy = (from: number) => writer.from(from, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
  const own = new MemoryLog().acquire();
  for (const batch of copy(0)) await own.append(batch, []);
  const formed = lastSeqOf(own);
  pass();
  assert.is(codeOf(await ask(erase('victim'))), 'ok');
  const { follower } = recover(own, new MemorySnapshotStore(), salt, formed)!;
  const actor = new GroupActor<Resolve>(follower, bounds);
  const made: number[] = [];
  const snapshot = async (seq: number) => {
    made.push(seq);
    return { seq, ms: 1 };
  };
  const snapshots = new MemorySnapshotStore();
  const pool = { ...deps.pool, snapshot };
  const files = storedLate(own);
  const loop = new GroupLoop({ ...deps, actor, log: own, pool, snapshots, snapshotEvery, leading: false });
  return { loop, actor, files, made, slots: copy(formed + 1) };
}

test('a follower makes no snapshot of a player whom the leader erases, until its files hold the end of it', async () => {
  const { loop, actor, files, made, slots } = await followerOfErasure(Number.POSITIVE_INFINITY);
  for (const slot of slots) {
    loop.followed([slot]);
    await loop.snapshotNow();
    files.from = slots.at(-1)!.firstSeq;
  }
  assert.equal([actor.state.erasures.size, made], [0, []], 'the state has followed, the files have not');
  assert.is(loop.storedSeq, files.from! - 1);
  files.from = null;
  await loop.snapshotNow();
  assert.equal([loop.storedSeq, made], [actor.durableSeq, [actor.durableSeq]]);
});

test('a follower at rest makes the snapshot that an erasure forbade once its files hold the end of it', async () => {
  const { loop, actor, files, made, slots } = await followerOfErasure(1);
  const { promise, resolve: store } = deferred();
  files.stored = promise;
  files.from = slots[0]!.firstSeq;
  loop.followed(slots);
  await turnOfLoop();
  assert.equal(made, []);
  files.from = null;
  store();
  await turnOfLoop();
  assert.equal(made, [actor.durableSeq]);
});

// Found by review: the record that ends an erasure was in the shared log, but not yet in the files.
test('a leader makes no snapshot from before the end of an erasure, however long the erasure took', async () => {
  let lateMs = 0;
  const late = { ...timers, elapsed: () => timers.elapsed() + lateMs };
  const { loop, writer, snapshots, pass, ask } = await grown(undefined, { timers: late });
  const files = storedLate(writer);
  let store = (): void => undefined;
  const append = writer.append.bind(writer);
  writer.append = async (batch, rewrites) => {
    await append(batch, rewrites);
    if (rewrites.length > 0) return;
    files.from = batch!.firstSeq;
    const { promise, resolve } = deferred();
    files.stored = promise;
    store = resolve;
  };
  writer.scrub = async () => {
    lateMs += limits.snapshotAfterErasureMs;
  };
  pass();
  assert.is(codeOf(await ask(erase('victim'))), 'ok');
  for (let turn = 0; turn < 5; turn++) await turnOfLoop();
  assert.equal([loop.storedSeq, snapshots.list()], [loop.actor.durableSeq - 1, []]);
  files.from = null;
  store();
  await until(() => snapshots.list().length > 0);
  assert.equal(snapshots.list(), [loop.actor.durableSeq]);
});

test.run();
