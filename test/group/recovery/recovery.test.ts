import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Batch, BatchWriter } from '../../../src/core/records/batch.js';
import { metaIn, SNAPSHOT_VERSION } from '../../../src/core/snapshot/snapshot.js';
import { stateDigest } from '../../../src/core/snapshot/state-digest.js';
import type { Command } from '../../../src/group/actor-commands.js';
import type { LogReader, StoredBatch } from '../../../src/group/ports/storage.js';
import { Follower, lastSeqOf, mustReach, recover } from '../../../src/group/recovery/recovery.js';
import { Replica } from '../../../src/group/replica/replica.js';
import { limits } from '../../../src/limits.js';
import { blocksIn } from '../../support/blocks-in.js';
import { salt, subjectKeyOf, t0 } from '../../support/given.js';
import { logOf } from '../../support/log-of.js';
import { Random } from '../../support/random.js';
import { verifyStore } from '../../support/verify-store.js';
import { Machine } from '../machine.js';

async function grown(events: number): Promise<Machine> {
  const machine = await Machine.start();
  await machine.ask('r', { type: 'register', peerId: 'p', peerName: 'P', gameIds: ['g'], keyDigest: 'k', by: 't' });
  for (let i = 0; i < events; i++) await machine.ask(`e${i}`, submitted(i));
  return machine;
}

const submitted = (i: number): Command => ({ type: 'submit', caller: 0, events: [eventOf(i)] });

function eventOf(i: number) {
  return {
    schemaVersion: '1.0.0',
    eventId: `e${i}`,
    eventType: 'commendation',
    peerId: 'p',
    subject: subjectKeyOf(`player ${i % 5}`),
    gameId: 'g',
    severity: 0.5,
    timestamp: t0,
  } as const;
}

function batchesOf(machine: Machine): StoredBatch[] {
  return machine.log.from(0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
}

test('recovery starts from the newest snapshot and continues with the tail', async () => {
  const machine = await grown(10);
  await machine.snapshot();
  await machine.ask('more', submitted(10));
  const recovered = recover(machine.log, machine.snapshots, salt, lastSeqOf(machine.log))!;
  assert.is(recovered.snapshotSeq, 12);
  assert.is(stateDigest(recovered.follower.state), stateDigest(machine.actor.state));
});

test('a state knows that no record before it carries sums only if nothing was retired before', async () => {
  const { state } = (await grown(1)).actor;
  assert.is(new Follower(state, new Uint8Array(32)).carriesSums(1), false);
  state.retired = { ...state.retired, seq: 1 };
  assert.is(new Follower(state, new Uint8Array(32)).carriesSums(1), undefined);
});

test('no snapshot is made of a record that the log shows and that is not known to be durable', async () => {
  const machine = await grown(5);
  const durable = machine.actor.durableSeq;
  await machine.ask('more', submitted(5));
  const replica = new Replica(machine.log, machine.snapshots, salt);
  assert.is(await replica.snapshot(durable, 1), null);
  assert.equal(machine.snapshots.list(), []);
  assert.is((await replica.snapshot(machine.actor.durableSeq, 1))?.seq, machine.actor.durableSeq);
});

test('a replica beyond the requested record makes a snapshot of its own record', async () => {
  const machine = await grown(5);
  const durable = machine.actor.durableSeq;
  const replica = new Replica(machine.log, machine.snapshots, salt);
  await machine.ask('more', submitted(5));
  replica.follow(machine.actor.durableSeq);
  assert.is((await replica.snapshot(durable, 1))?.seq, machine.actor.durableSeq);
});

test('a replica reads the log in short pieces beside who writes it, and a start in long ones', async () => {
  const machine = await grown(1);
  const pieces: number[] = [];
  const log: LogReader = {
    last: () => machine.log.last(),
    at: (seq) => machine.log.at(seq),
    from: (...asked) => machine.log.from(...asked),
    borrow(firstSeq, limit, maxBytes, take) {
      let bytes = 0;
      const lent = machine.log.borrow(firstSeq, limit, maxBytes, (batch) => {
        bytes += batch.bytes.length;
        take(batch);
      });
      pieces.push(bytes);
      return lent;
    },
    close: () => machine.log.close(),
  };
  const replica = new Replica(log, machine.snapshots, salt);
  replica.follow(machine.actor.durableSeq);
  for (let i = 1; i <= 30; i++) {
    const events = Array.from({ length: 500 }, (_, n) => `many ${i} ${n}`).map((eventId) => ({
      ...eventOf(i),
      eventId,
    }));
    await machine.ask(`many ${i}`, { type: 'submit', caller: 0, events });
  }
  const batchBytes = Math.max(...batchesOf(machine).map(({ bytes }) => bytes.length));
  const all = batchesOf(machine).reduce((sum, { bytes }) => sum + bytes.length, 0);
  assert.ok(all > 3 * limits.followBytes, `${all} bytes`);
  pieces.length = 0;
  replica.follow(machine.actor.durableSeq);
  assert.ok(pieces.length >= 3 && Math.max(...pieces) < limits.followBytes + batchBytes, pieces.join());
  pieces.length = 0;
  assert.is(recover(log, machine.snapshots, salt, lastSeqOf(log))!.follower.state.lastSeq, machine.actor.durableSeq);
  assert.equal(pieces, [all]);
});

test('a snapshot with valid checksums but another digest is skipped and named', async () => {
  const machine = await grown(5);
  await machine.snapshot();
  await machine.ask('more', submitted(5));
  machine.snapshots.alter(7);
  const recovered = recover(machine.log, machine.snapshots, salt, lastSeqOf(machine.log))!;
  assert.is(recovered.snapshotSeq, 0);
  assert.match(recovered.problems.join(), /snapshot 7: .*digest/);
  assert.is(stateDigest(recovered.follower.state), stateDigest(machine.actor.state));
});

test('a damaged snapshot is reported, and recovery uses the one before, then the whole log', async () => {
  const machine = await grown(5);
  await machine.snapshot();
  await machine.ask('more', submitted(5));
  await machine.snapshot();
  const [newest, older] = machine.snapshots.list() as [number, number];
  const digest = stateDigest(machine.actor.state);
  const found = () => recover(machine.log, machine.snapshots, salt, lastSeqOf(machine.log))!;
  machine.snapshots.damage(newest);
  assert.is(found().snapshotSeq, older);
  assert.match(found().problems[0]!, new RegExp(`snapshot ${newest}`));
  machine.snapshots.damage(older);
  assert.is(found().snapshotSeq, 0);
  assert.is(found().problems.length, 2);
  assert.is(stateDigest(found().follower.state), digest);
});

test('a snapshot of an older or a newer format is skipped and reported, and the log leads to the same state', async () => {
  for (const version of [SNAPSHOT_VERSION - 1, SNAPSHOT_VERSION + 1]) {
    const machine = await grown(5);
    await machine.snapshot();
    const [seq] = machine.snapshots.list() as [number];
    const header = machine.snapshots.readHeader(seq);
    await machine.snapshots.write({ ...header, version }, blocksIn(machine.snapshots, seq));
    const found = recover(machine.log, machine.snapshots, salt, lastSeqOf(machine.log))!;
    assert.is(found.snapshotSeq, 0);
    const release = version < SNAPSHOT_VERSION ? 'an earlier' : 'a later';
    assert.equal(found.problems, [
      `snapshot ${seq}: has format ${version} of ${release} release; expected format ${SNAPSHOT_VERSION}`,
    ]);
    assert.is(stateDigest(found.follower.state), stateDigest(machine.actor.state));
  }
});

test('check and recovery refuse a log with an event type of a newer release', async () => {
  const machine = await grown(2);
  const batches = batchesOf(machine);
  const last = new Batch(batches.at(-1)!.bytes);
  const writer = new BatchWriter();
  writer.add(Object.assign({ ...last.record(last.lastSeq) }, { event_type: 200, id_tag: '0123456789' }));
  const firstSeq = last.lastSeq + 1;
  const log = logOf([...batches, { firstSeq, bytes: writer.seal(firstSeq, t0, Buffer.alloc(16), last.chain).bytes }]);
  const report = verifyStore(log, machine.snapshots, null, 'start');
  assert.match(report.faults.join(), /newer release/);
  assert.throws(() => recover(log, machine.snapshots, salt, firstSeq), /newer release/);
});

test('a log that ends before its snapshot is damage', async () => {
  const machine = await grown(5);
  await machine.snapshot();
  const shorter = logOf(batchesOf(machine).slice(0, -2));
  assert.throws(
    () => recover(shorter, machine.snapshots, salt, lastSeqOf(shorter)),
    /ends at record 5, before snapshot 7/,
  );
});

test('every missing, repeated, exchanged or cut batch is found and named', async () => {
  const machine = await grown(20);
  const batches = batchesOf(machine);
  const random = new Random(11);
  for (let i = 0; i < 200; i++) {
    const damaged = batches.slice();
    const at = random.below(batches.length - 1);
    const kind = random.below(4);
    if (kind === 0) damaged.splice(at, 1);
    else if (kind === 1) damaged[at] = { ...damaged[at]!, bytes: damaged[at + 1]!.bytes };
    else if (kind === 2) damaged[at] = { ...damaged[at]!, bytes: damaged[at]!.bytes.slice(0, -1) };
    else damaged[at] = { firstSeq: damaged[at]!.firstSeq, bytes: forged(damaged[at]!.bytes) };
    const report = verifyStore(logOf(damaged), machine.snapshots, null, 'full');
    assert.is(report.ok, false, `kind ${kind} at ${at}`);
    assert.match(report.faults[0]!, /record \d+/);
  }
});

/** A batch with changed content and a right checksum: only the chain can tell. */
function forged(bytes: Uint8Array): Uint8Array {
  const batch = new Batch(bytes);
  const first = batch.record(batch.firstSeq);
  const other = { type: 'epoch_moved', epoch: first.type.length, factor: 1 } as const;
  return batch.rewrite(new Map([[batch.firstSeq, other]])).bytes;
}

test('a log that was truncated at its end is detected by the head outside it', async () => {
  const machine = await grown(5);
  const { lastSeq, chain } = machine.actor.durableHead;
  const expected = { lastSeq, chain: Buffer.from(chain).toString('hex') };
  assert.ok(verifyStore(machine.log, machine.snapshots, expected, 'full').ok);
  const cut = verifyStore(logOf(batchesOf(machine).slice(0, -1)), machine.snapshots, expected, 'full');
  assert.match(cut.faults[0]!, /ends at record 6; head.json says that record 7 was written/);
  assert.match(verifyStore(logOf([]), machine.snapshots, expected, 'start').faults[0]!, /ends at record 0/);
  const other = verifyStore(machine.log, machine.snapshots, { ...expected, chain: '00' }, 'full');
  assert.match(other.faults[0]!, /another log/);
});

test('a log that lost its batches is not taken for one that ends with its snapshot', async () => {
  const machine = await grown(5);
  await machine.snapshot();
  assert.ok(verifyStore(machine.log, machine.snapshots, null, 'start').ok);
  for (const left of [[], batchesOf(machine).slice(0, -1)]) {
    const { faults } = verifyStore(logOf(left), machine.snapshots, null, 'start');
    assert.match(faults[0]!, /has no record 7, the last one of snapshot 7/);
  }
});

test('a batch under the number of another one is found, also by a start', async () => {
  const machine = await grown(5);
  const batches = batchesOf(machine);
  const last = batches.at(-1)!;
  const moved = logOf([...batches.slice(0, -1), { ...last, firstSeq: last.firstSeq + 16 }]);
  for (const mode of ['full', 'start'] as const) {
    assert.match(
      verifyStore(moved, machine.snapshots, null, mode).faults[0]!,
      /at record 23: found the batch of record 7/,
    );
  }
  assert.throws(() => recover(moved, machine.snapshots, Buffer.alloc(0), 7), /found the batch of record 7/);
});

test('a log that lost records between its verification and its acquisition is damage', async () => {
  const machine = await grown(5);
  mustReach(machine.log, 7);
  mustReach(machine.log, 0);
  assert.throws(() => mustReach(logOf([]), 7), /ends at record 0 now that it is acquired, though it held record 7/);
});

test('a snapshot whose content does not match its digest is found', async () => {
  const machine = await grown(5);
  await machine.snapshot();
  const header = machine.snapshots.readHeader(7);
  const blocks = blocksIn(machine.snapshots, 7);
  await machine.snapshots.write({ ...header, digest: '00' }, blocks);
  assert.match(verifyStore(machine.log, machine.snapshots, null, 'full').faults[0]!, /snapshot 7: .*digest/);
  // A start looks no further than that its blocks are whole, since the recovery behind it finds the rest.
  const { ok, snapshots } = verifyStore(machine.log, machine.snapshots, null, 'start');
  assert.equal([ok, snapshots], [true, [{ seq: 7, ok: true }]]);
  const recovered = recover(machine.log, machine.snapshots, salt, 7)!;
  assert.is(recovered.snapshotSeq, 0);
  assert.match(recovered.problems[0]!, /snapshot 7: .*digest/);
});

test('a start skips a snapshot of another format, or of another record than its name states', async () => {
  const machine = await grown(5);
  await machine.snapshot();
  const header = machine.snapshots.readHeader(7);
  const blocks = blocksIn(machine.snapshots, 7);
  await machine.snapshots.write({ ...header, version: 99 }, blocks);
  await machine.snapshots.write({ ...header, seq: 6 }, blocks);
  const { ok, snapshots } = verifyStore(machine.log, machine.snapshots, null, 'start');
  assert.is(ok, true);
  assert.match(snapshots[0]!.fault!, /format 99/);
  assert.match(snapshots[1]!.fault!, /contains the state at record 7/);
});

test('a start skips a snapshot with another audit head, at which the log does not continue', async () => {
  const machine = await grown(5);
  await machine.snapshot();
  const blocks = blocksIn(machine.snapshots, 7);
  const meta = blocks.find(({ key }) => key === 'meta')!;
  const altered = JSON.stringify({ ...metaIn(meta), auditHead: '0'.repeat(64) });
  const others = blocks.filter(({ key }) => key !== 'meta');
  await machine.snapshots.write(machine.snapshots.readHeader(7), [
    { key: 'meta', bytes: Buffer.from(altered) },
    ...others,
  ]);
  await machine.ask('r', { type: 'register', peerId: 'q', peerName: 'Q', gameIds: ['g'], keyDigest: 'l', by: 't' });
  const { ok, snapshots } = verifyStore(machine.log, machine.snapshots, null, 'start');
  assert.is(ok, true);
  assert.match(snapshots[0]!.fault!, /digest/);
  assert.is(recover(machine.log, machine.snapshots, salt, 8)!.snapshotSeq, 0);
});

test('a verification reports its position in the log, up to the end', async () => {
  const machine = await grown(5);
  const heard: number[][] = [];
  verifyStore(machine.log, machine.snapshots, null, 'full', (done, total) => heard.push([done, total]));
  assert.equal(heard.at(-1), [7, 7]);
});

test.run();
