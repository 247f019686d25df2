import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { auditPart, auditStart } from '../../../src/core/records/audit.js';
import { Batch, BatchWriter } from '../../../src/core/records/batch.js';
import type { AuditPart, LogRecord } from '../../../src/core/records/records.js';
import { metaIn, SNAPSHOT_VERSION } from '../../../src/core/snapshot/snapshot.js';
import { stateDigest } from '../../../src/core/snapshot/state-digest.js';
import type { LogReader, StoredBatch } from '../../../src/group/ports/storage.js';
import { Follower, lastSeqOf, recover } from '../../../src/group/recovery/recovery.js';
import type { ExpectedHead } from '../../../src/group/recovery/verification.js';
import { Replica } from '../../../src/group/replica/replica.js';
import { limits } from '../../../src/limits.js';
import { blocksIn } from '../../support/blocks-in.js';
import { salt, submissionOf, t0 } from '../../support/given.js';
import { logOf } from '../../support/log-of.js';
import { Random } from '../../support/random.js';
import { verifyStore } from '../../support/verify-store.js';
import { register, submit } from '../commands.js';
import { inPieces } from '../life.js';
import { Machine } from '../machine.js';

const eventOf = (i: number, eventId = `e${i}`) =>
  submissionOf(eventId, `player ${i % 5}`, { eventType: 'commendation', severity: 0.5 });
const submitted = (i: number) => submit(eventOf(i));

async function grown(events: number): Promise<Machine> {
  const machine = await Machine.withPeers(1);
  for (let i = 0; i < events; i++) await machine.ask(`e${i}`, submitted(i));
  return machine;
}

/** A group with a snapshot at record 7, the last one. */
async function snapshotted() {
  const machine = await grown(5);
  await machine.snapshot();
  const { snapshots } = machine;
  return { machine, snapshots, header: snapshots.readHeader(7), blocks: blocksIn(snapshots, 7) };
}

const recoveredFrom = ({ log, snapshots }: Machine) => recover(log, snapshots, salt, lastSeqOf(log))!;
const check = ({ snapshots }: Machine, log: LogReader, mode: 'start' | 'full', head: ExpectedHead | null = null) =>
  verifyStore(log, snapshots, head, mode);

function batchesOf(machine: Machine): StoredBatch[] {
  return machine.log.from(0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
}

test('recovery starts from the newest snapshot and continues with the tail', async () => {
  const machine = await grown(10);
  await machine.snapshot();
  await machine.ask('more', submitted(10));
  const recovered = recoveredFrom(machine);
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

test('a replica reads short pieces of the log beside who writes it, and a start borrows long ones', async () => {
  const machine = await grown(1);
  const copied: number[] = [];
  const pieces: number[] = [];
  const from: LogReader['from'] = (...range) => {
    const batches = machine.log.from(...range);
    copied.push(batches.reduce((sum, { bytes }) => sum + bytes.length, 0));
    return batches;
  };
  const borrow: LogReader['borrow'] = (firstSeq, limit, maxBytes, take) => {
    let bytes = 0;
    const lent = machine.log.borrow(firstSeq, limit, maxBytes, (batch) => {
      bytes += batch.bytes.length;
      take(batch);
    });
    pieces.push(bytes);
    return lent;
  };
  const log: LogReader = { ...inPieces(machine.log, Number.POSITIVE_INFINITY), from, borrow };
  const replica = new Replica(log, machine.snapshots, salt);
  replica.follow(machine.actor.durableSeq);
  for (let i = 1; i <= 30; i++) {
    const events = Array.from({ length: 500 }, (_, n) => eventOf(i, `many ${i} ${n}`));
    await machine.ask(`many ${i}`, submit(...events));
  }
  const sizes = batchesOf(machine).map(({ bytes }) => bytes.length);
  const all = sizes.reduce((sum, size) => sum + size);
  assert.ok(all > 3 * limits.followBytes, `${all} bytes`);
  [copied.length, pieces.length] = [0, 0];
  replica.follow(machine.actor.durableSeq);
  assert.ok(copied.length >= 3 && Math.max(...copied) < limits.followBytes + Math.max(...sizes), copied.join());
  assert.equal(pieces, []);
  assert.is(recover(log, machine.snapshots, salt, lastSeqOf(log))!.follower.state.lastSeq, machine.actor.durableSeq);
  assert.equal(pieces, [all]);
});

test('a damaged snapshot is reported, and recovery uses the one before, then the whole log', async () => {
  const machine = await grown(5);
  await machine.snapshot();
  await machine.ask('more', submitted(5));
  await machine.snapshot();
  const [newest, older] = machine.snapshots.list() as [number, number];
  const digest = stateDigest(machine.actor.state);
  machine.snapshots.damage(newest);
  assert.is(recoveredFrom(machine).snapshotSeq, older);
  assert.match(recoveredFrom(machine).problems[0]!, new RegExp(`snapshot ${newest}`));
  machine.snapshots.damage(older);
  const { snapshotSeq, problems, follower } = recoveredFrom(machine);
  assert.equal([snapshotSeq, problems.length, stateDigest(follower.state)], [0, 2, digest]);
});

test('a snapshot of an older or a newer format is skipped and reported, and the log leads to the same state', async () => {
  for (const version of [SNAPSHOT_VERSION - 1, SNAPSHOT_VERSION + 1]) {
    const { machine, snapshots, header, blocks } = await snapshotted();
    await snapshots.write({ ...header, version }, blocks);
    const found = recoveredFrom(machine);
    const release = version < SNAPSHOT_VERSION ? 'an earlier' : 'a later';
    const problem = `has format ${version} of ${release} release; expected format ${SNAPSHOT_VERSION}`;
    assert.equal([found.snapshotSeq, found.problems], [0, [`snapshot 7: ${problem}`]]);
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
  assert.match(check(machine, log, 'start').faults.join(), /newer release/);
  assert.throws(() => recover(log, machine.snapshots, salt, firstSeq), /newer release/);
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
    const { ok, faults } = check(machine, logOf(damaged), 'full');
    assert.is(ok, false, `kind ${kind} at ${at}`);
    assert.match(faults[0]!, /record \d+/);
  }
});

/** A batch with changed content and a right checksum: only the chain can tell. */
function forged(bytes: Uint8Array): Uint8Array {
  const batch = new Batch(bytes);
  const first = batch.record(batch.firstSeq);
  const other = { type: 'epoch_moved', epoch: first.type.length, factor: 1 } as const;
  return batch.rewrite(new Map([[batch.firstSeq, other]])).bytes;
}

test('an audit entry is found whose hash is not its own, or not of the entry before it, in a chain that holds', async () => {
  const machine = await Machine.withPeers(1);
  const [formed, registered] = batchesOf(machine).map(({ bytes }) => new Batch(bytes)) as [Batch, Batch];
  const { firstSeq, at } = registered;
  const record = registered.record(firstSeq) as Extract<LogRecord, { type: 'peer_registered' }>;
  const faultsWith = (audit: AuditPart) => {
    const writer = new BatchWriter();
    writer.add({ ...record, audit });
    const { bytes } = writer.seal(firstSeq, at, Buffer.alloc(16), formed.chain);
    return check(
      machine,
      logOf([
        { firstSeq: 1, bytes: formed.bytes },
        { firstSeq, bytes },
      ]),
      'full',
    ).faults;
  };
  assert.equal(faultsWith(record.audit), []);
  for (const audit of [
    { ...record.audit, actor: 'another' },
    { ...record.audit, hash: auditStart },
    auditPart(auditStart, firstSeq, at, record.audit),
  ]) {
    assert.match(
      faultsWith(audit)[0]!,
      /audit entry at record 2: the chain of hashes is broken/,
      JSON.stringify(audit),
    );
  }
});

test('a log that was truncated at its end is detected by the head outside it', async () => {
  const machine = await grown(5);
  const { lastSeq, chain } = machine.actor.durableHead;
  const head = { lastSeq, chain: Buffer.from(chain).toString('hex') };
  assert.ok(check(machine, machine.log, 'full', head).ok);
  const cut = check(machine, logOf(batchesOf(machine).slice(0, -1)), 'full', head);
  assert.match(cut.faults[0]!, /ends at record 6; head.json says that record 7 was written/);
  assert.match(check(machine, logOf([]), 'start', head).faults[0]!, /ends at record 0/);
  assert.match(check(machine, machine.log, 'full', { ...head, chain: '00' }).faults[0]!, /another log/);
});

test('a log that lost its batches is not taken for one that ends with its snapshot', async () => {
  const { machine, snapshots } = await snapshotted();
  assert.ok(check(machine, machine.log, 'start').ok);
  for (const left of [[], batchesOf(machine).slice(0, -1)]) {
    assert.match(check(machine, logOf(left), 'start').faults[0]!, /has no record 7, the last one of snapshot 7/);
    const end = left.length === 0 ? 0 : 6;
    assert.equal(check(machine, logOf(left), 'full').faults, [`the log ends at record ${end}, before snapshot 7`]);
  }
  const [before, last] = batchesOf(machine).slice(-2);
  const writer = new BatchWriter();
  writer.add(new Batch(last!.bytes).record(7));
  const { bytes } = writer.seal(7, t0, Buffer.alloc(16, 1), new Batch(before!.bytes).chain);
  const forked = logOf([...batchesOf(machine).slice(0, -1), { firstSeq: 7, bytes }]);
  assert.match(check(machine, forked, 'start').faults[0]!, /has no record 7, the last one of snapshot 7/);
  const shorter = logOf(batchesOf(machine).slice(0, -2));
  const recovery = () => recover(shorter, snapshots, salt, lastSeqOf(shorter));
  assert.throws(recovery, /ends at record 5, before snapshot 7/);
});

test('a batch under the number of another one is found, also by a start', async () => {
  const machine = await grown(5);
  const batches = batchesOf(machine);
  const last = batches.at(-1)!;
  const moved = logOf([...batches.slice(0, -1), { ...last, firstSeq: last.firstSeq + 16 }]);
  for (const mode of ['full', 'start'] as const)
    assert.match(check(machine, moved, mode).faults[0]!, /at record 23: found the batch of record 7/);
  assert.throws(() => recover(moved, machine.snapshots, Buffer.alloc(0), 7), /found the batch of record 7/);
});

test('a snapshot whose content does not match its digest is found', async () => {
  const { machine, snapshots, header, blocks } = await snapshotted();
  await snapshots.write({ ...header, digest: '00' }, blocks);
  assert.match(check(machine, machine.log, 'full').faults[0]!, /snapshot 7: .*digest/);
  // A start looks no further than that its blocks are whole, since the recovery behind it finds the rest.
  const started = check(machine, machine.log, 'start');
  assert.equal([started.ok, started.snapshots], [true, [{ seq: 7, ok: true }]]);
  await machine.ask('more', submitted(5));
  const { snapshotSeq, problems, follower } = recoveredFrom(machine);
  assert.is(snapshotSeq, 0);
  assert.match(problems.join(), /snapshot 7: .*digest/);
  assert.is(stateDigest(follower.state), stateDigest(machine.actor.state));
});

test('a start skips a snapshot of another format, or of another record than its name states', async () => {
  const { machine, snapshots, header, blocks } = await snapshotted();
  await snapshots.write({ ...header, version: 99 }, blocks);
  await snapshots.write({ ...header, seq: 6 }, blocks);
  const started = check(machine, machine.log, 'start');
  assert.is(started.ok, true);
  assert.match(started.snapshots[0]!.fault!, /format 99/);
  assert.match(started.snapshots[1]!.fault!, /contains the state at record 7/);
});

test('a start skips a snapshot with another audit head, at which the log does not continue', async () => {
  const { machine, snapshots, header, blocks } = await snapshotted();
  const meta = blocks.find(({ key }) => key === 'meta')!;
  const altered = JSON.stringify({ ...metaIn(meta), auditHead: '0'.repeat(64) });
  const others = blocks.filter(({ key }) => key !== 'meta');
  await snapshots.write(header, [{ key: 'meta', bytes: Buffer.from(altered) }, ...others]);
  await machine.ask('r', register(1));
  const started = check(machine, machine.log, 'start');
  assert.is(started.ok, true);
  assert.match(started.snapshots[0]!.fault!, /digest/);
  assert.is(recoveredFrom(machine).snapshotSeq, 0);
});

test('a verification reports its position in the log, up to the end', async () => {
  const machine = await grown(5);
  const heard: number[][] = [];
  verifyStore(machine.log, machine.snapshots, null, 'full', (done, total) => heard.push([done, total]));
  assert.equal(heard.at(-1), [7, 7]);
});

test.run();
