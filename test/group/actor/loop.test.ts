/**
 * The shell around an actor when the pool answers late. The simulation and the tests of nodes cover its other parts.
 */
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Outcome } from '../../../src/errors.js';
import { GroupActor } from '../../../src/group/actor/actor.js';
import { GroupLoop } from '../../../src/group/actor/loop.js';
import type { Resolve } from '../../../src/group/actor/turn.js';
import type { Answer, Command } from '../../../src/group/actor-commands.js';
import { lastSeqOf, recover } from '../../../src/group/recovery/recovery.js';
import { limits } from '../../../src/limits.js';
import { timers } from '../../../src/node/system.js';
import { deferred } from '../../support/deferred.js';
import { bounds, salt, subjectOf } from '../../support/given.js';
import { MemoryLog } from '../../support/memory-log.js';
import { MemorySnapshotStore } from '../../support/memory-snapshots.js';
import { until } from '../../support/until.js';
import { grown, refusedAs } from './grown-loop.js';

/** The piece came back, and all that follows from it without waiting for a timer is done. */
async function settled(calls: readonly string[]): Promise<void> {
  await until(() => calls.includes('redacted'));
  await turnOfLoop();
  await turnOfLoop();
}

test('an answer resolves the promises of its request before any other work on its commit', async () => {
  const { observed, submit } = await grown();
  await turnOfLoop();
  observed.length = 0;
  const passedOn = async () => (await submit('e2')) as Outcome<unknown>[];
  const [outcome] = await passedOn();
  observed.push('answered');
  assert.ok(outcome!.ok);
  await turnOfLoop();
  assert.equal(observed, ['answered', 'committed']);
});

// Found by review: a replica that began to load before the snapshots went read of a player whom the log did not name
// any more.
test('a replica is asked again to have read everything after an erasure deleted the snapshots', async () => {
  const { loop, calls, pass, erase } = await grown();
  pass();
  assert.ok(((await erase()) as Outcome<unknown>).ok);
  assert.equal(calls.slice(calls.indexOf('redact')), ['redact', 'redacted', 'follow', 'remove', 'follow']);
  await loop.drain();
});

// Found by review: the piece came back behind the last snapshot, and removed it.
test('a stop during an erasure keeps the last snapshot', async () => {
  const { loop, snapshots, calls, pass, erase } = await grown();
  const answered = erase();
  await until(() => calls.includes('redact'));
  loop.endSoon(1);
  // The node's own timers keep no process alive.
  const awake = setInterval(() => undefined, 1_000);
  const [answer] = await Promise.all([answered, loop.drain()]).finally(() => clearInterval(awake));
  assert.equal((answer as { details?: unknown }).details, { recorded: true });
  await loop.snapshotNow();
  const before = snapshots.list();
  pass();
  await settled(calls);
  assert.equal(snapshots.list(), before);
  assert.not(calls.includes('remove'));
});

test('a node that failed during an erasure keeps its snapshots', async () => {
  const { loop, snapshots, calls, pass, erase } = await grown();
  void erase();
  await until(() => calls.includes('redact'));
  loop.abandon();
  pass();
  await settled(calls);
  assert.is(snapshots.list().length, 1);
});

test('a drain that waits for answers ends when a commit fails, as none will come', async () => {
  const failures: unknown[] = [];
  const { loop, writer, submit } = await grown((error) => failures.push(error));
  let fail: (error: Error) => void = assert.unreachable;
  writer.append = () =>
    new Promise((_, reject) => {
      fail = reject;
    });
  void submit('never answered');
  await turnOfLoop();
  const drained = loop.drain();
  const fault = new Error('the disk is gone');
  fail(fault);
  await drained;
  assert.equal(failures, [fault]);
});

test('waiting commands are refused if the disk filled up since their admission, and nothing is written', async () => {
  const { loop, observed, submit, ask, gauge, released } = await grown();
  await turnOfLoop();
  observed.length = 0;
  released.length = 0;
  const event = submit('late');
  const peer = ask({ type: 'register', peerId: 'peer-1', peerName: 'Q', gameIds: ['g1'], keyDigest: 'k1', by: 't' });
  gauge.bytes = 0;
  const [outcome] = (await event) as Outcome<unknown>[];
  const diskLow = ['dependency_unavailable', { reason: 'disk_low' }];
  assert.equal([refusedAs(outcome as Answer), refusedAs(await peer)], [diskLow, diskLow]);
  assert.equal([observed, released, loop.disk.low], [[], [], true]);
  assert.equal(await ask({ type: 'locate', eventId: 'late' }), { seq: 0, asOf: 0 }, 'a read is answered');

  gauge.bytes = 1e9;
  await loop.disk.look();
  assert.ok(((await submit('late')) as Outcome<unknown>[])[0]!.ok, 'writes are taken again by themselves');
});

test('writes are refused while the shared log is nearly full', async () => {
  let isFull = false;
  const { loop, submit, ask } = await grown(undefined, { logIsFull: () => isFull });
  isFull = true;
  loop.writableChanged();
  const command = { type: 'erase', caller: -2, subject: subjectOf('victim'), commitment: 'c', by: 't' } as const;
  const refusal = loop.admit({ command, token: () => assert.unreachable(), events: 1, bytes: 100, holder: null });
  assert.equal(refusedAs(refusal), ['dependency_unavailable', { reason: 'log_full' }]);
  assert.equal(await ask({ type: 'locate', eventId: 'refused' }), { seq: 0, asOf: 0 }, 'a read is answered');
  isFull = false;
  loop.writableChanged();
  assert.ok(((await submit('refused')) as Outcome<unknown>[])[0]!.ok);
});

test('a change by the operator is written on a full disk, in the space of the reserve', async () => {
  const { loop, ask, gauge, released } = await grown();
  gauge.bytes = 0;
  await loop.disk.look();
  released.length = 0;
  const suspended = await ask({ type: 'peer_status', peerId: 'peer-0', status: 'suspended', by: 't' });
  assert.ok((suspended as Outcome<unknown>).ok);
  assert.equal(released, [0]);
});

test('a piece of an erasure is not committed on a full disk, and goes on with room', async () => {
  const { loop, writer, calls, pass, erase, gauge } = await grown();
  const erased = erase();
  await until(() => calls.includes('redact'));
  gauge.bytes = 0;
  await loop.disk.look();
  const append = writer.append.bind(writer);
  writer.append = async () => assert.unreachable('a commit on a full disk');
  pass();
  await settled(calls);
  writer.append = append;
  gauge.bytes = 1e9;
  await loop.disk.look();
  assert.ok(((await erased) as Outcome<unknown>).ok);
  await loop.drain();
});

test('a loop that another one replaces refuses its waiting commands', async () => {
  const { loop } = await grown();
  const answers: Answer[] = [];
  const locate: Command = { type: 'locate', eventId: 'e' };
  const wait = (command: Command) =>
    loop.admit({ command, token: (answer) => answers.push(answer), events: 1, bytes: 100, holder: null });
  assert.is(wait(locate), undefined);
  loop.replace();
  assert.equal(
    answers.map((answer) => (answer as { readonly code?: string }).code),
    ['dependency_unavailable'],
  );
});

// Found by review: a write in flight made the loop answer every later erasure before its bytes had left the log.
test('a loop that leads again answers an erasure once it is complete, also if a write was in flight', async () => {
  const { loop, writer, pass, submit, erase } = await grown();
  const { promise: arrived, resolve: arrive } = deferred();
  const append = writer.append.bind(writer);
  writer.append = async (...batch) => {
    await arrived;
    return append(...batch);
  };
  const inFlight = submit('e2');
  await turnOfLoop();
  loop.follow();
  assert.match(JSON.stringify(await inFlight), /dependency_unavailable.*log_unreachable/);
  arrive();
  await until(() => loop.actor.isSettled);
  loop.lead();
  const erased = erase();
  let isAnswered = false;
  void erased.then(() => {
    isAnswered = true;
  });
  await until(() => loop.actor.removal.busy);
  await turnOfLoop();
  assert.not(isAnswered);
  pass();
  assert.ok(((await erased) as Outcome<unknown>).ok);
  await loop.drain();
});

test('a demoted node answers the callers of recorded erasures that the next leader continues them', async () => {
  const { loop, calls, pass, erase } = await grown();
  const erased = erase();
  await until(() => calls.includes('redact'));
  loop.follow();
  const { text, details } = (await erased) as { readonly text?: string; readonly details?: unknown };
  assert.match(text ?? '', /continues on the next leader/);
  assert.equal(details, { recorded: true });
  pass();
  await settled(calls);
});

test('a command whose records an older node could not read is refused until every node reads them', async () => {
  let formatMax = 1;
  const { loop, submit } = await grown(undefined, { formatMax: () => formatMax });
  const command = { type: 'scoring' } as const;
  const admit = () => loop.admit({ command, token: () => undefined, events: 1, bytes: 100, holder: null });
  assert.equal(admit()?.details, { reason: 'mixed_releases' });
  await submit('e2');
  formatMax = 2;
  assert.is(admit(), undefined);
});

/** A follower of a group whose leader has erased the player: it has none of `slots`, and its files are behind. */
async function followerOfErasure(snapshotEvery: number) {
  const { deps, writer, pass, erase } = await grown();
  const copy = (from: number) => writer.from(from, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
  const own = new MemoryLog().acquire();
  for (const batch of copy(0)) await own.append(batch, []);
  const formed = lastSeqOf(own);
  pass();
  assert.ok(((await erase()) as Outcome<unknown>).ok);
  const { follower } = recover(own, new MemorySnapshotStore(), salt, formed)!;
  const actor = new GroupActor<Resolve>(follower, bounds);
  const files = { storingFrom: null as number | null, stored: Promise.resolve() };
  Object.defineProperty(own, 'storingFrom', { get: () => files.storingFrom });
  own.stored = () => files.stored;
  const made: number[] = [];
  const snapshot = async (seq: number) => {
    made.push(seq);
    return { seq, ms: 1 };
  };
  const snapshots = new MemorySnapshotStore();
  const pool = { ...deps.pool, snapshot };
  const loop = new GroupLoop({ ...deps, actor, log: own, pool, snapshots, snapshotEvery, leading: false });
  return { loop, actor, files, made, slots: copy(formed + 1) };
}

test('a follower makes no snapshot of a player whom the leader erases, until its files hold the end of it', async () => {
  const { loop, actor, files, made, slots } = await followerOfErasure(Number.POSITIVE_INFINITY);
  for (const slot of slots) {
    loop.followed([slot]);
    await loop.snapshotNow();
    files.storingFrom = slots.at(-1)!.firstSeq;
  }
  assert.equal([actor.state.erasures.size, made], [0, []], 'the state has followed, the files have not');
  assert.is(loop.storedSeq, files.storingFrom! - 1);
  files.storingFrom = null;
  await loop.snapshotNow();
  assert.equal([loop.storedSeq, made], [actor.durableSeq, [actor.durableSeq]]);
});

test('a follower at rest makes the snapshot that an erasure forbade once its files hold the end of it', async () => {
  const { loop, actor, files, made, slots } = await followerOfErasure(1);
  const { promise, resolve: store } = deferred();
  files.stored = promise;
  files.storingFrom = slots[0]!.firstSeq;
  loop.followed(slots);
  await turnOfLoop();
  assert.equal(made, []);
  files.storingFrom = null;
  store();
  await turnOfLoop();
  assert.equal(made, [actor.durableSeq]);
});

// Found by review: the record that ends an erasure was in the shared log, but not yet in the files.
test('a leader makes no snapshot from before the end of an erasure, however long the erasure took', async () => {
  let lateMs = 0;
  const { loop, writer, snapshots, pass, erase } = await grown(undefined, {
    timers: { ...timers, elapsed: () => timers.elapsed() + lateMs },
  });
  let storingFrom: number | null = null;
  let store: () => void = () => undefined;
  let stored = Promise.resolve();
  Object.defineProperty(writer, 'storingFrom', { get: () => storingFrom });
  const append = writer.append.bind(writer);
  writer.append = async (batch, rewrites) => {
    await append(batch, rewrites);
    if (rewrites.length > 0) return;
    storingFrom = batch!.firstSeq;
    stored = new Promise((resolve) => {
      store = () => {
        storingFrom = null;
        resolve();
      };
    });
  };
  writer.stored = () => stored;
  writer.scrub = async () => {
    lateMs += limits.snapshotAfterErasureMs;
  };
  pass();
  assert.ok(((await erase()) as Outcome<unknown>).ok);
  for (let turn = 0; turn < 5; turn++) await turnOfLoop();
  assert.equal([loop.storedSeq, snapshots.list()], [loop.actor.durableSeq - 1, []]);
  store();
  await until(() => snapshots.list().length > 0);
  assert.equal(snapshots.list(), [loop.actor.durableSeq]);
});

test.run();
