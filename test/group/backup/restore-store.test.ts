/** A restore brings back the backup, except what the replaced log removed since. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { stateDigest } from '../../../src/core/snapshot/state-digest.js';
import { OPERATOR } from '../../../src/core/vocabulary.js';
import { ForeignLogError } from '../../../src/group/backup/restore-store.js';
import { DamagedError, type LogReader } from '../../../src/group/ports/storage.js';
import { lastSeqOf } from '../../../src/group/recovery/recovery.js';
import { limits } from '../../../src/limits.js';
import { rejection } from '../../store/log-contract.js';
import { subjectOf } from '../../support/given.js';
import { Random } from '../../support/random.js';
import { type Act, backupOf, drawAct, everyByte, inPieces, Life, stateOf } from '../life.js';
import { Crash, Machine } from '../machine.js';
import { groupOn } from '../machine-group.js';
import { recordsOf } from '../removal/lived.js';
import { assertRestored, playersIn, restored } from './restored.js';

test('a backup without an old log is restored byte for byte', async () => {
  const life = await Life.begin();
  const random = new Random(1);
  for (let i = 0, events = 0; i < 60; i++) {
    const act = drawAct(random, events);
    if (act.type === 'event') events++;
    await life.act(act);
  }
  const backup = await backupOf(life.machine.log);
  const back = await restored(backup, null);
  assert.is(back.changed, false);
  assert.ok(everyByte(back.log).equals(everyByte(life.machine.log)));
  assert.is(stateDigest(stateOf(back.log)), stateDigest(life.machine.actor.state));
});

test('a restore writes a bounded number of batches in one transaction', async () => {
  const life = await Life.begin();
  for (let i = 0; i <= limits.catchUpBatches; i++) {
    await life.act({ type: 'event', peer: 0, id: `e${i}`, player: 'player 0', severity: 1 });
  }
  let transactions = 0;
  const back = await restored(life.machine.log, null, async () => void transactions++);
  assert.ok(everyByte(back.log).equals(everyByte(life.machine.log)));
  assert.is(transactions, 2);
});

test('ids of events that were erased or withdrawn after the backup stay taken', async () => {
  const life = await Life.begin();
  const event = (id: string, player: string): Act => ({ type: 'event', peer: 0, id, player, severity: 1 });
  for (const [id, player] of [
    ['a', 'player 0'],
    ['b', 'player 1'],
    ['c', 'player 1'],
  ] as const)
    await life.act(event(id, player));
  const backup = await backupOf(life.machine.log);
  await life.act({ type: 'erase', player: 'player 0' });
  await life.act({ type: 'withdraw', id: 'b' });
  const { log } = await restored(backup, life.machine.log);
  const node = Life.on(log);
  await node.machine.work();
  const before = node.machine.actor.durableSeq;
  for (const id of ['a', 'b', 'c']) await node.act(event(id, 'player 2'));
  assert.is(node.machine.actor.durableSeq, before);
});

test('a restored log knows the events that were erased after the backup', async () => {
  const life = await Life.begin();
  for (const id of ['a', 'b']) await life.act({ type: 'event', peer: 0, id, player: `player of ${id}`, severity: 1 });
  const backup = await backupOf(life.machine.log);
  await life.act({ type: 'event', peer: 0, id: 'lost', player: 'player of a', severity: 1 });
  await life.act({ type: 'erase', player: 'player of a' });
  const { state: old } = life.machine.actor;
  assert.is(old.erasedEvents.countOf(0), 2);
  const { log } = await restored(backup, life.machine.log);
  const state = stateOf(log);
  const seqOf = (id: string) => state.eventIds.seqOf(state.idTags.of(id));
  assert.equal(
    state.erasedEvents.of(0, 0, 9).map(({ seq }) => seq),
    [seqOf('a')],
  );
  assert.is(state.erasedEvents.has(seqOf('b')), false);
});

test('a node that starts on a restored folder completes an erasure that a crash interrupted', async () => {
  for (let effects = 1; effects < 12; effects++) {
    const life = await Life.begin();
    const event = (id: string, player: string): Act => ({ type: 'event', peer: 0, id, player, severity: 1 });
    for (let i = 0; i < 10; i++) await life.act(event(`e${i}`, `player ${i % 2}`));
    await life.act({ type: 'withdraw', id: 'e2' });
    const backup = await backupOf(life.machine.log);
    life.machine.life = effects;
    const ended = life.act({ type: 'erase', player: 'player 1' }).catch((error: unknown) => error);
    const isCrashed = (await ended) instanceof Crash;
    const isDurable = recordsOf(life.machine.log).some(({ record }) => record.type === 'subject_erased');
    const back = await restored(backup, life.machine.log);
    assertRestored(back.log, back, `${effects} effects`);
    const node = Life.on(back.log);
    const players = node.sums().map((sum) => sum[0]);
    assert.equal(players, isDurable ? ['0'] : ['0', '1'], `${effects} effects`);
    await node.machine.work();
    assert.equal(playersIn(back.log), isDurable ? [0] : [0, 1], `${effects} effects`);
    if (!isCrashed) return;
  }
  assert.unreachable('the erasure never ended');
});

test('a node that starts on a restored folder completes a withdrawal that a crash interrupted', async () => {
  const life = await Life.begin();
  for (let i = 0; i < 4; i++)
    await life.act({ type: 'event', peer: 0, id: `id-${i}`, player: 'player 0', severity: 1 });
  const backup = await backupOf(life.machine.log);
  // The look-up and its answer, then the withdrawal's commit, and no redaction.
  life.machine.life = 2;
  assert.instance(await rejection(life.act({ type: 'withdraw', id: 'id-3' })), Crash);
  assert.ok(everyByte(life.machine.log).includes('id-3'));
  const back = await restored(backup, life.machine.log);
  assert.is(back.withdrawals, 1);
  const node = Life.on(back.log);
  assert.equal(
    node.sums().map((sum) => sum.split(' ')[2]),
    ['3'],
  );
  await node.machine.work();
  assert.not.ok(everyByte(back.log).includes('id-3'));
});

test('requests for an erasure that wait for the operator wait again', async () => {
  const life = await Life.begin();
  await life.act({ type: 'event', peer: 0, id: 'a', player: 'player 0', severity: 1 });
  const backup = await backupOf(life.machine.log);
  const machine = Machine.on(life.machine.log, { ...life.machine.bounds, erasureMode: 'operator' });
  await machine.ask('x', { type: 'erase', caller: 0, subject: subjectOf('player 0'), commitment: 'c', by: 'peer-0' });
  const back = await restored(backup, life.machine.log);
  assert.is(back.requests, 1);
  assert.equal(
    stateOf(back.log)
      .erasureRequests.all()
      .map(([subject]) => subject),
    [subjectOf('player 0').toString('hex')],
  );
});

test('a refused request is named by its number in the restored log, also once its player is erased', async () => {
  for (const isErased of [false, true]) {
    const life = await Life.begin();
    await life.act({ type: 'event', peer: 0, id: 'a', player: 'player 0', severity: 1 });
    const backup = await backupOf(life.machine.log);
    await life.act({ type: 'event', peer: 0, id: 'b', player: 'player 1', severity: 1 });
    const machine = Machine.on(life.machine.log, { ...life.machine.bounds, erasureMode: 'operator' });
    const subject = subjectOf('player 0');
    await machine.ask('x', { type: 'erase', caller: 0, subject, commitment: 'c', by: 'peer-0' });
    await machine.ask('y', { type: 'refuse_erasure', subject, reason: 'no', by: 'op' });
    if (isErased) await machine.ask('z', { type: 'erase', caller: OPERATOR, subject, commitment: 'd', by: 'op' });
    await machine.work();
    for (const log of [life.machine.log, (await restored(backup, life.machine.log)).log]) {
      const records = recordsOf(log).map(({ record }) => record);
      const requestedSeq = records.findIndex(({ type }) => type === 'erasure_requested') + 1;
      const refused = records.find(({ type }) => type === 'erasure_refused')!;
      assert.is('audit' in refused && refused.audit.target, `request ${requestedSeq}`);
    }
  }
});

test('a request of a peer that registered after the backup is exported without the peer', async () => {
  const life = await Life.begin();
  await life.act({ type: 'event', peer: 0, id: 'a', player: 'player 0', severity: 1 });
  const backup = await backupOf(life.machine.log);
  const machine = Machine.on(life.machine.log, { ...life.machine.bounds, erasureMode: 'operator' });
  const { group } = groupOn(machine);
  const registered = await group.register({ peerName: 'New', gameIds: ['g1'] }, 'test');
  assert.ok(registered.ok && (await group.erase(registered.value.peer, subjectOf('player 0'))).ok);
  const { log } = await restored(backup, life.machine.log);
  const exported = await groupOn(Machine.on(log)).group.exportSubject(subjectOf('player 0'), 'op');
  assert.ok(exported.ok);
  assert.equal(
    exported.value.erasureRequests.map(({ peerId }) => peerId),
    [null],
  );
});

test('proofs of erasures stay in the audit, chained, and other acts are named as lost', async () => {
  const life = await Life.begin();
  await life.act({ type: 'event', peer: 0, id: 'a', player: 'player 0', severity: 1 });
  const backup = await backupOf(life.machine.log);
  const suspend = { type: 'peer_status', peerId: 'peer-2', status: 'suspended', by: 'alice' } as const;
  await life.machine.ask('suspend', suspend);
  await life.act({ type: 'erase', player: 'player 0' });
  const erasureIn = (log: LogReader) =>
    recordsOf(log)
      .map(({ record }) => record)
      .find(({ type }) => type === 'subject_erased');
  const proof = erasureIn(life.machine.log);
  const back = await restored(backup, life.machine.log);
  const repeated = erasureIn(back.log);
  assert.ok(proof?.type === 'subject_erased' && repeated?.type === 'subject_erased');
  assert.is(repeated.audit.target, proof.audit.target);
  assert.is.not(repeated.audit.prev_hash, proof.audit.prev_hash);
  assert.equal(
    back.lostFacts.map(({ action, actor, target }) => [action, actor, target]),
    [['peer_suspended', 'alice', 'peer-2']],
  );
});

test('a log that does not continue from the backup is refused', async () => {
  const life = await Life.begin();
  for (let i = 0; i < 5; i++) await life.act({ type: 'event', peer: 0, id: `e${i}`, player: 'player 0', severity: 1 });
  const fork = Life.on(await backupOf(life.machine.log));
  for (const side of [life, fork]) {
    side.machine.now += side === life ? 1 : 2;
    await side.act({ type: 'event', peer: 0, id: 'next', player: 'player 1', severity: 1 });
  }
  const error = await rejection(restored(await backupOf(life.machine.log), fork.machine.log));
  assert.instance(error, ForeignLogError);
  assert.match(String(error), 'they differ after record 9');
});

test('an old log that ends before the backup, as a disk that was set back has it, takes nothing away', async () => {
  const life = await Life.begin();
  for (let i = 0; i < 5; i++) await life.act({ type: 'event', peer: 0, id: `e${i}`, player: 'player 0', severity: 1 });
  const shorter = await backupOf(life.machine.log);
  await life.act({ type: 'event', peer: 0, id: 'next', player: 'player 1', severity: 1 });
  const back = await restored(await backupOf(life.machine.log), shorter);
  assert.is(back.changed, false);
  assert.equal(Life.on(back.log).sums(), life.sums());
});

test('events that retention deleted since leave the restored log, and what they said of players stays', async () => {
  const life = await Life.begin();
  const event = (id: string, player: string): Act => ({ type: 'event', peer: 0, id, player, severity: 1 });
  for (const player of [0, 1, 2]) await life.act(event(`old-${player}`, `player ${player}`));
  const sums = life.sums();
  const backup = await backupOf(life.machine.log);
  await life.act(event('new-0', 'player 0'));
  await life.act(event('new-3', 'player 3'));
  await life.machine.retire(life.machine.now + 1);
  await life.act({ type: 'erase', player: 'player 1' });
  const back = await restored(backup, life.machine.log);
  assertRestored(back.log, back);
  const node = Life.on(back.log);
  const left = sums.filter((sum) => !sum.startsWith('1'));
  assert.equal(node.sums(), left);
  assert.ok(node.machine.actor.state.retired.open, 'the node that starts completes it');
  await node.machine.work();
  assert.equal(node.sums(), left);
  assert.equal(node.machine.actor.state.retired, { seq: lastSeqOf(backup), open: false });
  assert.not.ok(everyByte(back.log).includes('old-'));
});

test('the withdrawal of an event that is newer than the backup is not applied again', async () => {
  const life = await Life.begin();
  const backup = await backupOf(life.machine.log);
  await life.act({ type: 'event', peer: 0, id: 'new', player: 'player 0', severity: 1 });
  await life.act({ type: 'withdraw', id: 'new' });
  const { changed, withdrawals, lostEvents } = await restored(backup, life.machine.log);
  assert.equal({ changed, withdrawals, lostEvents }, { changed: false, withdrawals: 0, lostEvents: 1 });
});

test('a backup or an old log that lacks a batch is refused as damaged', async () => {
  const life = await Life.begin();
  for (let i = 0; i < 5; i++) await life.act({ type: 'event', peer: 0, id: `e${i}`, player: 'player 0', severity: 1 });
  const { log } = life.machine;
  const from: LogReader['from'] = (...range) => log.from(...range).filter(({ firstSeq }) => firstSeq !== 4);
  const error = await rejection(restored({ ...inPieces(log, 100), from }, null));
  assert.instance(error, DamagedError);
  assert.match(String(error), 'the log breaks off after record 3');
  const old = await rejection(restored(log, { ...inPieces(log, 100), from }));
  assert.instance(old, ForeignLogError);
  assert.match(String(old), 'the old log is damaged: the log breaks off after record 3');
});

test.run();
