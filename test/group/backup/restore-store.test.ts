/** A restore brings back the backup, except what the replaced log removed since. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { stateDigest } from '../../../src/core/snapshot/state-digest.js';
import { OPERATOR } from '../../../src/core/vocabulary.js';
import { ForeignLogError } from '../../../src/group/backup/restore-store.js';
import { DamagedError, type LogReader } from '../../../src/group/ports/storage.js';
import { lastSeqOf } from '../../../src/group/recovery/recovery.js';
import { limits } from '../../../src/limits.js';
import { rejection, rejectionAs } from '../../store/log-contract.js';
import { subjectOf } from '../../support/given.js';
import { Random } from '../../support/random.js';
import { erase } from '../commands.js';
import { type Act, backupOf, drawn, event, everyByte, inPieces, Life, stateOf } from '../life.js';
import { Crash, Machine } from '../machine.js';
import { groupOn } from '../machine-group.js';
import { recordsOf } from '../removal/lived.js';
import { assertRestored, playersIn, restored } from './restored.js';

/** A group after some acts, the backup of its log at that time, and a restore of it beside the log as it is then. */
async function backedUp(...acts: readonly Act[]) {
  const life = await Life.begin();
  for (const act of acts) await life.act(act);
  const backup = await backupOf(life.machine.log);
  return { life, backup, restore: () => restored(backup, life.machine.log) };
}

/** Events `event-0`, `event-1`, … about player 0. */
const events = (count: number) => Array.from({ length: count }, (_, i) => event(`event-${i}`, 'player 0'));

/** The node of a group's log goes on in a mode in which erasures wait for the operator. */
const operatorMode = ({ machine }: Life) => Machine.on(machine.log, { ...machine.bounds, erasureMode: 'operator' });

const recordIn = (log: LogReader, type: string) =>
  recordsOf(log)
    .map(({ record }) => record)
    .find((record) => record.type === type);

test('a backup without an old log is restored byte for byte', async () => {
  const draw = drawn(new Random(1));
  const { life, backup } = await backedUp(...Array.from({ length: 60 }, draw));
  const back = await restored(backup, null);
  assert.is(back.changed, false);
  assert.ok(everyByte(back.log).equals(everyByte(life.machine.log)));
  assert.is(stateDigest(stateOf(back.log)), stateDigest(life.machine.actor.state));
});

test('a restore writes a bounded number of batches in one transaction', async () => {
  const { life } = await backedUp(...events(limits.catchUpBatches + 1));
  let transactions = 0;
  const back = await restored(life.machine.log, null, async () => void transactions++);
  assert.ok(everyByte(back.log).equals(everyByte(life.machine.log)));
  assert.is(transactions, 2);
});

test('ids of events that were erased or withdrawn after the backup stay taken, and the erased ones are known', async () => {
  const { life, restore } = await backedUp(event('a', 'player 0'), event('b', 'player 1'), event('c', 'player 1'));
  await life.act(event('lost', 'player 0'));
  await life.act({ type: 'erase', player: 'player 0' });
  await life.act({ type: 'withdraw', id: 'b' });
  assert.is(life.machine.actor.state.erasedEvents.countOf(0), 2);
  const { log } = await restore();
  const { erasedEvents, eventIds, idTags } = stateOf(log);
  const seqOf = (id: string) => eventIds.seqOf(idTags.of(id));
  assert.equal(
    erasedEvents.of(0, 0, 9).map(({ seq }) => seq),
    [seqOf('a')],
  );
  assert.is(erasedEvents.has(seqOf('c')), false);
  const node = Life.on(log);
  await node.machine.work();
  const before = node.machine.actor.durableSeq;
  for (const id of ['a', 'b', 'c']) await node.act(event(id, 'player 2'));
  assert.is(node.machine.actor.durableSeq, before);
});

test('a node that starts on a restored folder completes an erasure that a crash interrupted', async () => {
  for (let effects = 1; effects < 12; effects++) {
    const why = `${effects} effects`;
    const acts = Array.from({ length: 10 }, (_, i) => event(`e${i}`, `player ${i % 2}`));
    const { life, restore } = await backedUp(...acts, { type: 'withdraw', id: 'e2' });
    life.machine.life = effects;
    const ended = life.act({ type: 'erase', player: 'player 1' }).catch((error: unknown) => error);
    const isCrashed = (await ended) instanceof Crash;
    const left = recordIn(life.machine.log, 'subject_erased') === undefined ? [0, 1] : [0];
    const back = await restore();
    assertRestored(back.log, back, why);
    const node = Life.on(back.log);
    assert.equal(
      node.sums().map((sum) => Number(sum[0])),
      left,
      why,
    );
    await node.machine.work();
    assert.equal(playersIn(back.log), left, why);
    if (!isCrashed) return;
  }
  assert.unreachable('the erasure never ended');
});

test('a node that starts on a restored folder completes a withdrawal that a crash interrupted', async () => {
  const { life, restore } = await backedUp(...events(4));
  // The look-up and its answer, then the withdrawal's commit, and no redaction.
  life.machine.life = 2;
  assert.instance(await rejection(life.act({ type: 'withdraw', id: 'event-3' })), Crash);
  assert.ok(everyByte(life.machine.log).includes('event-3'));
  const back = await restore();
  assert.is(back.withdrawals, 1);
  const node = Life.on(back.log);
  assert.equal(
    node.sums().map((sum) => sum.split(' ')[2]),
    ['3'],
  );
  await node.machine.work();
  assert.not.ok(everyByte(back.log).includes('event-3'));
});

test('requests for an erasure that wait for the operator wait again', async () => {
  const { life, restore } = await backedUp(...events(1));
  await operatorMode(life).ask('x', erase('player 0', 0));
  const back = await restore();
  assert.is(back.requests, 1);
  const waiting = stateOf(back.log).erasureRequests.all();
  assert.equal(
    waiting.map(([subject]) => subject),
    [subjectOf('player 0').toString('hex')],
  );
});

test('a refused request is named by its number in the restored log, also once its player is erased', async () => {
  for (const isErased of [false, true]) {
    const { life, restore } = await backedUp(...events(1));
    await life.act(event('b', 'player 1'));
    const machine = operatorMode(life);
    // Another request comes before it in the same turn.
    machine.offer('w', erase('player 1', 0));
    await machine.ask('x', erase('player 0', 0));
    await machine.ask('y', { type: 'refuse_erasure', subject: subjectOf('player 0'), reason: 'no', by: 'op' });
    if (isErased) await machine.ask('z', erase('player 0', OPERATOR));
    await machine.work();
    for (const log of [life.machine.log, (await restore()).log]) {
      const requestedSeq = recordsOf(log).findLastIndex(({ record }) => record.type === 'erasure_requested') + 1;
      const refused = recordIn(log, 'erasure_refused')!;
      assert.is('audit' in refused && refused.audit.target, `request ${requestedSeq}`);
    }
  }
});

test('a request of a peer that registered after the backup is exported without the peer', async () => {
  const { life, restore } = await backedUp(...events(1));
  const { group } = groupOn(operatorMode(life));
  const registered = await group.register({ peerName: 'New', gameIds: ['g1'] }, 'test');
  assert.ok(registered.ok && (await group.erase(registered.value.peer, subjectOf('player 0'))).ok);
  const exported = await groupOn(Machine.on((await restore()).log)).group.exportSubject(subjectOf('player 0'), 'op');
  assert.equal(exported.ok && exported.value.erasureRequests.map(({ peerId }) => peerId), [null]);
});

test('proofs of erasures stay in the audit, chained, and other acts are named as lost', async () => {
  const { life, restore } = await backedUp(...events(1));
  const suspend = { type: 'peer_status', peerId: 'peer-2', status: 'suspended', by: 'alice' } as const;
  await life.machine.ask('suspend', suspend);
  await life.act({ type: 'erase', player: 'player 0' });
  const proof = recordIn(life.machine.log, 'subject_erased');
  const back = await restore();
  const repeated = recordIn(back.log, 'subject_erased');
  assert.ok(proof?.type === 'subject_erased' && repeated?.type === 'subject_erased');
  assert.is(repeated.audit.target, proof.audit.target);
  assert.is.not(repeated.audit.prev_hash, proof.audit.prev_hash);
  assert.equal(
    back.lostFacts.map(({ action, actor, target }) => [action, actor, target]),
    [['peer_suspended', 'alice', 'peer-2']],
  );
});

test('a log that does not continue from the backup is refused', async () => {
  const { life, backup } = await backedUp(...events(5));
  const fork = Life.on(backup);
  for (const [side, ms] of [
    [life, 1],
    [fork, 2],
  ] as const) {
    side.machine.now += ms;
    await side.act(event('next', 'player 1'));
  }
  const error = await rejectionAs(ForeignLogError, restored(await backupOf(life.machine.log), fork.machine.log));
  assert.match(error.message, 'they differ after record 9');
});

test('an old log that ends before the backup, as a disk that was set back has it, takes nothing away', async () => {
  const { life, backup: shorter } = await backedUp(...events(5));
  await life.act(event('next', 'player 1'));
  const back = await restored(await backupOf(life.machine.log), shorter);
  assert.is(back.changed, false);
  assert.equal(Life.on(back.log).sums(), life.sums());
});

test('events that retention deleted since leave the restored log, and what they said of players stays', async () => {
  const { life, backup, restore } = await backedUp(...[0, 1, 2].map((i) => event(`old-${i}`, `player ${i}`)));
  const left = life.sums().filter((sum) => !sum.startsWith('1'));
  for (const player of [0, 3]) await life.act(event(`new-${player}`, `player ${player}`));
  await life.machine.retire(life.machine.now + 1);
  await life.act({ type: 'erase', player: 'player 1' });
  const back = await restore();
  assertRestored(back.log, back);
  const node = Life.on(back.log);
  assert.equal(node.sums(), left);
  assert.ok(node.machine.actor.state.retired.open, 'the node that starts completes it');
  await node.machine.work();
  assert.equal(node.sums(), left);
  assert.equal(node.machine.actor.state.retired, { seq: lastSeqOf(backup), open: false });
  assert.not.ok(everyByte(back.log).includes('old-'));
});

test('the withdrawal of an event that is newer than the backup is not applied again', async () => {
  const { life, restore } = await backedUp();
  await life.act(event('new', 'player 0'));
  await life.act({ type: 'withdraw', id: 'new' });
  const { changed, withdrawals, lostEvents } = await restore();
  assert.equal({ changed, withdrawals, lostEvents }, { changed: false, withdrawals: 0, lostEvents: 1 });
});

test('a backup or an old log that lacks a batch is refused as damaged', async () => {
  const { log } = (await backedUp(...events(5))).life.machine;
  const from: LogReader['from'] = (...range) => log.from(...range).filter(({ firstSeq }) => firstSeq !== 4);
  const lacking = { ...inPieces(log, 100), from };
  const error = await rejectionAs(DamagedError, restored(lacking, null));
  assert.match(error.message, 'the log breaks off after record 3');
  const old = await rejectionAs(ForeignLogError, restored(log, lacking));
  assert.match(old.message, 'the old log is damaged: the log breaks off after record 3');
});

test.run();
