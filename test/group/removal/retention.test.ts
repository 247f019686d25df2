/**
 * Events that are too old leave the log; what they said of players stays, whatever else happens and wherever a crash
 * falls.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { stateDigest } from '../../../src/core/snapshot/state-digest.js';
import { Replica } from '../../../src/group/replica/replica.js';
import { hourMs, salt, subjectOf } from '../../support/given.js';
import { MemorySnapshotStore } from '../../support/memory-snapshots.js';
import { codeOf, erase } from '../commands.js';
import { event, everyByte, stateOf, sumsOf } from '../life.js';
import { Crash, type Machine } from '../machine.js';
import { assertHolds, lived, recordsOf } from './lived.js';

/** Asserts that the log is intact, and that its replay leads to the state. */
function assertReplayed({ log, actor }: Machine, why = ''): void {
  assert.is(stateDigest(stateOf(log)), stateDigest(actor.state), why);
  assertHolds(log, why);
}

const scrubsOf = ({ trace }: Machine) => trace.filter((type) => type === 'scrub').length;
const sumsRecordsIn = ({ log }: Machine) => recordsOf(log).filter(({ record }) => record.type === 'evidence_kept');

test('old events leave the log with their bytes, newer ones and all evidence stay', async () => {
  const { life, machine } = await lived(20);
  const sums = life.sums();
  await machine.retire(machine.now - 5 * hourMs);
  const stored = machine.stored();
  for (let i = 0; i < 20; i++) assert.is(stored.includes(`id-${i}-`), i >= 14, `event ${i}`);
  assert.equal(life.sums(), sums);
  assertReplayed(machine);
  assert.is(machine.actor.state.retired.open, false);
  assert.is(scrubsOf(machine), 1);
});

test('ids of retired events stay taken, and a retired event cannot be withdrawn', async () => {
  const { life, machine } = await lived(6);
  await machine.retire(machine.now + 1);
  const before = machine.actor.durableSeq;
  await life.act(event('id-3-', 'player 4'));
  await life.act({ type: 'withdraw', id: 'id-3-' });
  assert.is(machine.actor.durableSeq, before);
});

// The withdrawal was once carried out, and a restore from a backup made in between brought the event back.
test('an event that retention deletes while its withdrawal is pending cannot be withdrawn', async () => {
  const { machine } = await lived(6);
  const command = machine.withdrawal(null, await machine.locate('id-3-'));
  await machine.retire(machine.now + 1);
  const before = machine.actor.durableSeq;
  assert.is(codeOf(await machine.ask('late', command)), 'event_not_found');
  assert.is(machine.actor.durableSeq, before);
});

test('a player whose events are retired is erased like any other', async () => {
  const { life, machine } = await lived(12);
  await machine.retire(machine.now - 3 * hourMs);
  assert.ok(machine.stored().includes(subjectOf('player 1')));
  await life.act({ type: 'erase', player: 'player 1' });
  assert.not.ok(machine.stored().includes(subjectOf('player 1')));
  assert.not.ok(machine.stored().includes(subjectOf('player 1').toString('hex')));
  assert.not(life.sums().some((sum) => sum.startsWith('1')));
  assertReplayed(machine);
});

test('acts that are audited stay, whatever their age', async () => {
  const { life, machine } = await lived(5);
  await life.act({ type: 'erase', player: 'player 1' });
  const audited = () => recordsOf(machine.log).flatMap(({ record }) => ('audit' in record ? [record.audit.hash] : []));
  const before = audited();
  await machine.retire(machine.now + 1);
  assert.equal(audited(), before);
  assert.is(before.length, 5);
});

test('sums of an unchanged pair stay in place, and those of a changed pair are written anew', async () => {
  const { life, machine } = await lived(3);
  await machine.retire(machine.now + 1);
  assert.is(sumsRecordsIn(machine).length, 3);
  await life.act(event('more', 'player 0', 0));
  machine.now += hourMs;
  await machine.retire(machine.now);
  const subjects = sumsRecordsIn(machine).map(({ record }) => 'subject' in record && record.subject !== null);
  assert.equal(subjects, [false, true, true, true]);
  const size = everyByte(machine.log).length;
  machine.now += hourMs;
  await machine.retire(machine.now);
  assert.is(sumsRecordsIn(machine).length, 4);
  assert.ok(everyByte(machine.log).length < size + 1_000);
  assertReplayed(machine);
});

test('a pair whose events leave in pieces gets one record, and the log of a quiet group does not grow', async () => {
  for (const isSnapshotted of [false, true]) {
    const { life, machine } = await lived(18);
    const sums = life.sums();
    await life.retireBatchwise(machine.now - 9 * hourMs);
    // What the records before a snapshot carry is read from the log.
    if (isSnapshotted) await machine.snapshot();
    for (let period = 0; period < 4; period++) {
      await life.retireBatchwise(machine.now + 1);
      // 3 players of 2 peers each.
      assert.is(sumsRecordsIn(machine).length, 6, `period ${period}`);
      machine.now += hourMs;
    }
    assert.equal(life.sums(), sums);
    assertReplayed(machine);
  }
});

test('no free space is overwritten if no event is beyond the retention age', async () => {
  const { machine } = await lived(3);
  await machine.retire(machine.now + 1);
  assert.is(scrubsOf(machine), 1);
  machine.now += hourMs;
  await machine.retire(machine.now);
  assert.is(scrubsOf(machine), 1);
  assert.is(machine.actor.state.retired.open, false);
  assertHolds(machine.log);
});

test('a newly loaded replica at a record before a retention pass has the sums of that record', async () => {
  const { life, machine } = await lived(12);
  const sums = life.sums();
  const before = machine.actor.durableSeq;
  await machine.retire(machine.now + 1);
  const { state } = new Replica(machine.log, new MemorySnapshotStore(), salt).follow(before);
  assert.equal(sumsOf(state), sums);
});

test('which sums are stored already is known without reading the log', async () => {
  const { machine } = await lived(30);
  await machine.retire(machine.now - 15 * hourMs);
  const { seq: after } = machine.actor.state.retired;
  assert.ok(after > 0);
  const durable = machine.actor.durableSeq;
  const replica = new Replica(machine.log, new MemorySnapshotStore(), salt);
  machine.log.at = () => {
    throw new Error('the log was read');
  };
  const piece = replica.retire({ type: 'retention', after, upTo: durable - 10, durable });
  assert.ok(piece.rewrites.length > 0);
});

test('while the disk is low retention pauses, erasures continue, and with room retention resumes', async () => {
  const { life, machine } = await lived(20);
  machine.actor.removal.mayExpire = false;
  await machine.retire(machine.now + 1);
  assert.is(machine.actor.state.retired.seq, 0);
  await life.act({ type: 'erase', player: 'player 1' });
  const stored = machine.stored();
  for (let i = 0; i < 20; i++) assert.is(stored.includes(`id-${i}-`), i % 3 !== 1, `event ${i}`);
  machine.actor.removal.mayExpire = true;
  await machine.resume();
  for (let i = 0; i < 20; i++) assert.not(machine.stored().includes(`id-${i}-`), `event ${i}`);
  assertHolds(machine.log);
});

test('a damaged batch stops retention until the next check, and erasures continue', async () => {
  const { life, machine } = await lived(6);
  await life.act(event('damaged', 'player 5'));
  const damaged = machine.actor.durableSeq;
  await life.act(event('later', 'player 1'));
  machine.damaged.add(damaged);
  await machine.retire(machine.now + 1);
  assert.is(machine.actor.state.retired.seq, 0);
  await life.act({ type: 'erase', player: 'player 1' });
  assert.not(machine.stored().includes(subjectOf('player 1')));
  machine.damaged.clear();
  await machine.retire(machine.now + 1);
  assert.not(machine.stored().includes('damaged'));
});

// Found by review: one batch with a time ahead kept all that came behind it for years.
test('an event of a clock that was ahead is deleted with the events after it, and not before', async () => {
  const { life, machine } = await lived(3);
  const right = machine.now;
  machine.now += 400 * 24 * hourMs;
  await life.act(event('ahead', 'player 0'));
  machine.now = right + hourMs;
  await machine.retire(right + 1);
  assert.not(machine.stored().includes('id-2-'));
  assert.ok(machine.stored().includes('ahead'), 'nothing behind it says how old it is');
  await life.act(event('behind', 'player 1'));
  await machine.retire(right + 1);
  assert.ok(machine.stored().includes('ahead'), 'what is behind it is not old yet');
  machine.now += 5 * hourMs;
  await machine.retire(machine.now - hourMs);
  for (const id of ['ahead', 'behind']) assert.not(machine.stored().includes(id), id);
  assertReplayed(machine);
});

test('a crash between any two effects of retention loses nothing, and the next start continues it', async () => {
  for (let effects = 1; ; effects++) {
    const { life, machine } = await lived(12);
    await life.act({ type: 'withdraw', id: 'id-4-' });
    const sums = life.sums();
    const before = machine.now - 3 * hourMs;
    machine.life = effects;
    const isOver = !((await machine.retire(before).catch((error: unknown) => error)) instanceof Crash);
    machine.life = Number.POSITIVE_INFINITY;
    machine.restart();
    assert.equal(life.sums(), sums, `after ${effects} effects`);
    await machine.retire(before);
    assert.equal(life.sums(), sums, `after ${effects} effects`);
    assert.not.ok(machine.stored().includes('id-2-'), `after ${effects} effects`);
    assert.ok(machine.stored().includes('id-11-'));
    assert.is(machine.actor.state.retired.open, false);
    assertReplayed(machine, `after ${effects} effects`);
    if (isOver) {
      assert.ok(effects >= 4, `${effects} effects`);
      return;
    }
  }
});

test('erasures run between the pieces of retention', async () => {
  const { life, machine } = await lived(9);
  const before = machine.trace.length;
  machine.offer('erasure', erase('player 1'));
  await life.retireBatchwise(machine.now + 1);
  const redactions = machine.trace.slice(before).filter((type) => type === 'redact' || type === 'answer');
  assert.ok(redactions.indexOf('answer') > 0);
  assert.ok(
    redactions.lastIndexOf('redact') > redactions.lastIndexOf('answer'),
    'the erasure was answered before the last piece',
  );
  assert.ok(recordsOf(machine.log).every(({ record }) => record.type !== 'event_accepted'));
});

test.run();
