import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { asOfTime } from '../../../src/core/evidence/decay.js';
import { readAgain } from '../../../src/core/rules/decide-removal.js';
import { trustOf } from '../../../src/core/scoring/score.js';
import { stateDigest } from '../../../src/core/snapshot/state-digest.js';
import { type Outcome, type Refusal, refused } from '../../../src/errors.js';
import type { Command } from '../../../src/group/actor-commands.js';
import { RecordReader } from '../../../src/group/listing/listing.js';
import { limits } from '../../../src/limits.js';
import { withBounds } from '../../sim/profile.js';
import { submissionOf as event, subjectOf, t0 } from '../../support/given.js';
import { MemoryLog } from '../../support/memory-log.js';
import { verifyStore } from '../../support/verify-store.js';
import { codeOf, codesOf, erase, register, submit } from '../commands.js';
import { Crash, Machine } from '../machine.js';

const nonce = Buffer.alloc(16);

/** The trust of every player. */
function scoresOf({ actor: { state } }: Machine): unknown[] {
  const asOf = asOfTime(state, t0);
  return Array.from({ length: 90 }, (_, i) => {
    const row = state.subjects.find(subjectOf(`p${i}`));
    return row < 0 ? null : trustOf(state, row, asOf);
  });
}

async function withdraw(machine: Machine, eventId: string): Promise<string> {
  const located = await machine.locate(eventId);
  const { record } = new RecordReader(machine.log).read(located.seq);
  if (record.type !== 'event_accepted') return 'gone';
  return codeOf(await machine.ask(`withdraw ${eventId}`, machine.withdrawal(0, located)));
}

/** A group of one peer that sent one event about each player, with the id `of-PLAYER`. */
async function reported(...players: readonly string[]): Promise<Machine> {
  const machine = await Machine.withPeers(1);
  for (const player of players) await machine.ask(player, submit(event(`of-${player}`, player)));
  return machine;
}

/** Sends events of one player, and offers their withdrawals under their ids `w0`, `w1`, … without a turn between. */
async function offerWithdrawals(machine: Machine, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await machine.ask(`e${i}`, submit(event(`w${i}`, 'a', { timestamp: t0 - i })));
  const commands: Command[] = [];
  for (let i = 0; i < count; i++) commands.push(machine.withdrawal(0, await machine.locate(`w${i}`)));
  for (const [i, command] of commands.entries()) machine.offer(`w${i}`, command);
}

const codeAt = (machine: Machine, token: string) => codeOf(machine.answers.get(token));
const countOf = (machine: Machine, effect: string) => machine.trace.filter((type) => type === effect).length;

/** Asserts that neither log nor snapshots nor free space name the player. */
function assertErased(machine: Machine, player: string, why = ''): void {
  const stored = machine.stored();
  assert.is(stored.indexOf(subjectOf(player)), -1, why);
  assert.is(stored.indexOf(subjectOf(player).toString('hex')), -1, why);
}

function assertIntact(machine: Machine, why = ''): void {
  assert.equal(verifyStore(machine.log, machine.snapshots, null, 'full').faults, [], why);
}

test('no answer leaves before its turn is durable', async () => {
  const { actor } = await Machine.withPeers(1);
  actor.offer({ command: submit(event('e1', 'p')), token: 'a', events: 1, bytes: 100, holder: null });
  const types = (effects: readonly { readonly type: string }[]) => effects.map(({ type }) => type);
  assert.equal([types(actor.takeTurn(t0, nonce)), actor.durableSeq], [['commit'], 2]);
  assert.equal([types(actor.committed()), actor.durableSeq], [['decided', 'answer'], 3]);
});

test('one turn is in flight at a time, and no batch of another node comes before its commit', async () => {
  const { actor, log, now } = await Machine.withPeers(1);
  assert.throws(() => actor.committed(), /no turn is in flight/);
  actor.offer({ command: register(1), token: 'r', events: 1, bytes: 100, holder: null });
  actor.takeTurn(now, nonce);
  assert.throws(() => actor.takeTurn(now, nonce), /a turn is in flight/);
  assert.throws(() => actor.follow(log.last()!), /a turn is in flight/);
  actor.committed();
  assert.throws(() => actor.committed(), /no turn is in flight/);
});

test('a refusal of what is in flight replaces outcomes of writes, and leaves answers to reads as they are', async () => {
  const machine = await reported('p');
  const { actor } = machine;
  machine.offer('register', register(1));
  machine.offer('events', submit(event('f', 'p')));
  machine.offer('known', { type: 'chains', subject: subjectOf('p') });
  machine.offer('unknown', { type: 'chains', subject: subjectOf('q') });
  actor.takeTurn(machine.now, nonce);
  const refusal = refused('overloaded');
  const answers = new Map(
    actor.refuseInFlight(refusal).flatMap((one) => (one.type === 'answer' ? [[one.token, one.answer] as const] : [])),
  );
  assert.equal([answers.get('register'), answers.get('events')], [refusal, [refusal]]);
  assert.ok('heads' in (answers.get('known') as object));
  assert.is(answers.get('unknown'), null);
});

test('an actor is settled while its state is the durable log, and no removal is in progress', async () => {
  const machine = await Machine.withPeers(1);
  const { actor } = machine;
  assert.ok(actor.isSettled);
  machine.offer('a', submit(event('e1', 'p')));
  assert.ok(actor.isSettled, 'a waiting command changed nothing');
  actor.takeTurn(t0, nonce);
  assert.not(actor.isSettled, 'a turn is in flight');
  actor.committed();
  assert.ok(actor.isSettled);
  actor.state.lastSeq += 1;
  assert.not(actor.isSettled, 'the state is ahead of the log');
  actor.state.lastSeq -= 1;
  machine.offer('erase', erase('p'));
  actor.takeTurn(t0, nonce);
  actor.committed();
  assert.not(actor.isSettled, 'an erasure is in progress');
});

test('the same event twice in one turn is accepted once, and both are answered after the commit', async () => {
  const machine = await Machine.withPeers(1);
  machine.offer('one', submit(event('e1', 'p'), event('e1', 'p')), 2);
  machine.offer('two', submit(event('e1', 'p')));
  await machine.work();
  assert.equal(codesOf(machine.answers.get('one')), ['ok', 'duplicate_event']);
  assert.equal(codesOf(machine.answers.get('two')), ['duplicate_event']);
});

test('one turn takes all waiting commands in one commit, and numbers its records without a gap', async () => {
  const machine = await Machine.withPeers(1);
  for (let i = 0; i < 1_000; i++) machine.offer(`t${i}`, submit(event(`e${i}`, `p${i}`)));
  machine.trace.length = 0;
  await machine.work();
  assert.equal([countOf(machine, 'commit'), machine.actor.durableSeq], [1, 1_002]);
});

test('a turn that looks up many events at a time decides each as if it came alone', async () => {
  const many = (batch: number, count: number) =>
    Array.from({ length: count }, (_, i) => {
      const timestamp = t0 - batch * 10_000 - i;
      const more = i % 50 === 7 ? { subject: null } : { peerId: `peer-${(batch + i) % 4}`, timestamp };
      // Ids and players come again, within a batch and across batches; peer 3 is not there.
      return event(`e${(batch * 131 + i) % 1_500}`, `p${(i * 7) % 90}`, more);
    });
  // Single events, batches that fill a look, one larger than a look, and other commands between.
  const counts = [1, 400, 1, 300, 1, 1, 512, 700, 2];
  const commands = counts.flatMap((count, batch) => [submit(...many(batch, count)), erase(`p${batch}`)]);
  const [together, alone] = [await Machine.withPeers(3), await Machine.withPeers(3)];
  for (const [i, command] of commands.entries()) {
    together.offer(`t${i}`, command, counts[i / 2] ?? 1);
    await alone.ask(`t${i}`, command);
  }
  await together.work();
  const outcomes = (machine: Machine) =>
    commands.map(({ type }, i) => (type === 'submit' ? codesOf(machine.answers.get(`t${i}`)) : type));
  assert.equal(outcomes(together), outcomes(alone));
  assert.equal(new Set(outcomes(together).flat()).size, 5);
  assert.equal(together.actor.state.eventCount, alone.actor.state.eventCount);
  assert.equal(scoresOf(together), scoresOf(alone));
});

test('an erasure is answered when nothing of the subject is stored any more', async () => {
  const machine = await Machine.withPeers(2);
  for (let i = 0; i < 50; i++) {
    await machine.ask(`e${i}`, submit(event(`id-of-victim-${i}`, 'victim', { peerId: `peer-${i % 2}` })));
    await machine.ask(`o${i}`, submit(event(`other-${i}`, 'other')));
  }
  assert.is(await withdraw(machine, 'id-of-victim-0'), 'ok');
  await machine.snapshot();
  machine.trace.length = 0;
  const answer = (await machine.ask('erase', erase('victim'))) as Outcome<{ events: number }>;
  assert.is(answer.ok && answer.value.events, 49);
  assert.equal(
    machine.trace.filter((type) => type !== 'decided'),
    ['commit', 'redact', 'drop_snapshots', 'commit', 'scrub', 'commit', 'answer'],
  );
  assertErased(machine, 'victim');
  const stored = machine.stored();
  assert.is(stored.indexOf('id-of-victim'), -1);
  assert.ok(stored.indexOf('other-1') > 0);
  assertIntact(machine);
});

test('an erased and a withdrawn id stay duplicates, with the time of their first arrival', async () => {
  const machine = await reported('a', 'b');
  machine.now = t0 + 5000;
  await machine.ask('erase', erase('a'));
  assert.is(await withdraw(machine, 'of-b'), 'ok');
  for (const restarted of [false, true]) {
    if (restarted) machine.restart();
    // Only an erasure takes an event that its own peer did not give up.
    for (const [id, reason] of [
      ['of-a', { reason: 'subject_erased' }],
      ['of-b', {}],
    ] as const) {
      const [outcome] = (await machine.ask(`again ${id} ${restarted}`, submit(event(id, 'c')))) as Outcome<unknown>[];
      const details = { event_id: id, originally_received_at: '2026-01-01T00:00:00.000Z', ...reason };
      assert.equal(outcome!.ok ? null : outcome!.details, details);
    }
  }
  assert.is(await withdraw(machine, 'of-b'), 'gone');
});

// Found by review: withdrawals in a queue of their own kept another caller's erasure waiting.
test('erasures and withdrawals leave the log together, so that neither waits for a stream of the other', async () => {
  const machine = await reported('victim');
  await offerWithdrawals(machine, 40);
  machine.offer('erase', erase('victim'));
  machine.trace.length = 0;
  await machine.work();
  assert.is(countOf(machine, 'redact'), 1);
  assert.equal([codeAt(machine, 'erase'), codeAt(machine, 'w0')], ['ok', 'ok']);
  assert.is(machine.stored().indexOf('w39'), -1);
});

test('so many withdrawals leave the log in one job, and the others in the next', () =>
  withBounds({ redactionWithdrawals: 5 }, async () => {
    const machine = await Machine.withPeers(1);
    await offerWithdrawals(machine, 12);
    machine.trace.length = 0;
    await machine.work();
    assert.is(countOf(machine, 'redact'), 3);
    for (let i = 0; i < 12; i++) assert.is(codeAt(machine, `w${i}`), 'ok');
  }));

test('a large job takes several pieces, and keeps a subject named until its chains are walked', async () => {
  const machine = await Machine.withPeers(1);
  const players = Array.from({ length: limits.redactionErasures }, (_, i) => `player ${i}`);
  for (let k = 0; k < 5; k++) {
    for (const player of players)
      await machine.ask(`${k} ${player}`, submit(event(`${k}-${player}`.replace(' ', '-'), player)));
  }
  for (const player of players) machine.offer(`erase ${player}`, erase(player));
  machine.trace.length = 0;
  await machine.work();
  assert.equal([countOf(machine, 'redact'), countOf(machine, 'scrub')], [2, 1]);
  for (const player of players) {
    assert.is(codeAt(machine, `erase ${player}`), 'ok');
    assertErased(machine, player);
  }
  assertIntact(machine);
});

test('no snapshot begins while an erasure is recorded as complete: it could still hold the player', async () => {
  const appends: boolean[] = [];
  let isForbidden = () => false;
  const log = new MemoryLog(() => {
    appends.push(isForbidden());
    return 'ok';
  });
  const machine = await Machine.withPeers(1, undefined, log);
  await machine.ask('victim', submit(event('v', 'victim')));
  isForbidden = () => machine.actor.removal.forbidsSnapshots;
  appends.length = 0;
  await machine.ask('erase', erase('victim'));
  assert.equal([appends.at(0), appends.at(-1), isForbidden()], [false, true, false]);
});

// Found by review: it took the snapshots of a node whose log was damaged before, and the node could not start any more.
test('an erasure that meets a damaged batch deletes no snapshot, and is done once the batch is readable', async () => {
  const machine = await reported('victim');
  machine.damaged.add(machine.actor.durableSeq);
  await machine.snapshot();
  machine.offer('erase', erase('victim'));
  await machine.work();
  await machine.tryAgain();
  assert.is(machine.snapshots.list().length, 1);
  // The removals of another erasure can continue although this one is open.
  await machine.ask('other', submit(event('o', 'other')));
  await machine.ask('erase other', erase('other'));
  assert.equal(machine.snapshots.list(), []);
  assert.not(machine.actor.removal.forbidsSnapshots);
  await machine.snapshot();
  machine.restart();
  machine.damaged.clear();
  await machine.work();
  assert.equal(machine.snapshots.list(), []);
  assertErased(machine, 'victim');
});

test('a damaged batch blocks only the removals that name it', async () => {
  const machine = await Machine.withPeers(1);
  const players = Array.from({ length: 9 }, (_, i) => `player ${i}`);
  for (const player of players)
    await machine.ask(player, submit(event(player.replace(' ', '-'), player), event(`more-${player.at(-1)}`, 'more')));
  machine.damaged.add(machine.actor.durableSeq - 7);
  // Together in one job, which fails as a whole at first.
  for (const player of players) machine.offer(`erase ${player}`, erase(player));
  await machine.work();
  assert.is(await withdraw(machine, 'more-0'), 'ok');
  for (let tries = 0; tries < 6; tries++) await machine.tryAgain();
  const open = players.filter((player) => !machine.answers.has(`erase ${player}`));
  assert.equal(open, ['player 5']);
  machine.damaged.clear();
  await machine.tryAgain();
  assert.is(codeAt(machine, 'erase player 5'), 'ok');
  assert.is(machine.actor.state.erasures.size, 0);
});

test('failed jobs that may be retried come before new ones', async () => {
  const machine = await reported('a', 'b');
  machine.damaged.add(machine.actor.durableSeq - 1);
  machine.offer('erase a', erase('a'));
  await machine.work();
  machine.damaged.clear();
  machine.actor.removal.mayRemove = false;
  machine.offer('erase b', erase('b'));
  await machine.work();
  machine.actor.removal.mayRemove = true;
  await machine.tryAgain();
  const erased = [...machine.answers.keys()].filter((token) => token.startsWith('erase'));
  assert.equal(erased, ['erase a', 'erase b']);
});

test('a node that leads again goes on with what is open, not with failed removals that another leader did', async () => {
  const machine = await reported('a', 'b');
  const { actor } = machine;
  const [ofA, ofB] = [actor.durableSeq - 1, actor.durableSeq];
  machine.damaged.add(ofA);
  machine.offer('erase a', erase('a'));
  await machine.work();
  actor.removal.mayRemove = false;
  actor.removal.answerDurable();
  const between = Machine.on(machine.log);
  between.damaged.add(ofB);
  between.offer('erase b', erase('b'));
  await between.work();
  for (const batch of between.log.from(actor.durableSeq + 1, 99, 1e9)) actor.follow(batch);
  actor.removal.mayRemove = true;
  const [step] = actor.removal.again();
  const erasures = step?.type === 'redact' && step.work.type === 'removal' && step.work.erasures;
  assert.equal(erasures, [...actor.state.erasures.keys()]);
  assert.is(actor.state.erasures.size, 1);
});

test('an erasure that fails behind its first piece writes nothing more until it can go on', async () => {
  const machine = await Machine.withPeers(1);
  const events = limits.redactionPieceBatches + 1;
  for (let i = 0; i < events; i++) await machine.ask(`e${i}`, submit(event(`v-${i}`, 'victim')));
  machine.damaged.add(machine.actor.durableSeq - events + 1);
  machine.offer('erase', erase('victim'));
  await machine.work();
  const { durableSeq } = machine.actor;
  for (let tries = 0; tries < 3; tries++) await machine.tryAgain();
  assert.is(machine.actor.durableSeq, durableSeq);
  machine.damaged.clear();
  await machine.tryAgain();
  assert.is(codeAt(machine, 'erase'), 'ok');
  assertErased(machine, 'victim');
});

test('on a full disk an erasure waits for room', async () => {
  const machine = await reported('victim');
  machine.actor.removal.mayRemove = false;
  machine.offer('erase', erase('victim'));
  await machine.work();
  assert.equal([machine.answers.has('erase'), countOf(machine, 'redact')], [false, 0]);
  machine.actor.removal.mayRemove = true;
  await machine.resume();
  assert.is(codeAt(machine, 'erase'), 'ok');
});

test('a withdrawal is read again if its player was unbanned once more since its chain was read', async () => {
  const machine = await Machine.withPeers(1);
  const lifting = (id: string, timestamp: number) => event(id, 'a', { eventType: 'ban_lifted', timestamp });
  await machine.ask('e', submit(event('ban', 'a', { eventType: 'ban_applied' }), lifting('first', t0 - 2000)));
  const located = await machine.locate('first');
  const early = machine.withdrawal(0, located);
  await machine.ask('e2', submit(lifting('second', t0 - 1000)));
  assert.is(await machine.ask('w', early), readAgain);
  assert.is(codeOf(await machine.ask('w2', machine.withdrawal(0, located))), 'ok');
});

// Found by review: a withdrawal was answered while its commit was still in flight.
test('at the end of the node no caller waits for a scrub, but all wait for durable records', async () => {
  const machine = await reported('victim', 'other');
  const located = await machine.locate('of-other');
  machine.offer('erase', erase('victim'));
  machine.offer('withdraw', machine.withdrawal(0, located));
  machine.actor.takeTurn(t0, nonce);
  assert.equal(machine.actor.removal.giveUp(), []);
  const answers = machine.actor.committed().filter((effect) => effect.type === 'answer');
  assert.equal(
    answers.map(({ token, answer }) => `${token} ${codeOf(answer)}`),
    ['erase dependency_unavailable', 'withdraw ok'],
  );
  // A caller that took it for undone would ask again and be told 404 at the next start.
  assert.equal((answers[0]!.answer as Refusal).details, { recorded: true });
  assert.is(machine.actor.state.erasures.size, 1);
});

test('a new event of an erased player starts from nothing', async () => {
  const machine = await reported('a');
  machine.offer('erase', erase('a'));
  machine.offer('b', submit(event('e2', 'a')));
  await machine.work();
  for (const restarted of [false, true]) {
    if (restarted) machine.restart();
    const { subjects } = machine.actor.state;
    const row = subjects.find(subjectOf('a'));
    assert.is(subjects.entries.count(subjects.firstEntry(row)), 1);
  }
});

/** Registers, submits, withdraws and erases; answers what was acknowledged. */
async function life(machine: Machine): Promise<void> {
  await machine.ask('register', register(0));
  for (let i = 0; i < 6; i++)
    await machine.ask(`e${i}`, submit(event(`victim-${i}`, 'victim'), event(`o${i}`, 'other')));
  await machine.snapshot();
  await machine.ask('behind', submit(event('victim-behind', 'victim')));
  await withdraw(machine, 'victim-1');
  await machine.ask('erase', erase('victim'));
  await machine.ask('last', submit(event('last', 'other')));
}

/** Starts again after a fault; asserts that every acknowledged event is there, and that no removal is left open. */
async function recovered(machine: Machine): Promise<void> {
  const acknowledged = [...machine.answers.keys()].filter((token) => /^e\d$/.test(token));
  machine.restart();
  await machine.work();
  const { state } = machine.actor;
  assert.is(state.erasures.size + state.withdrawals.size, 0);
  for (const token of acknowledged)
    assert.ok(state.eventIds.seqOf(state.idTags.of(`victim-${token.slice(1)}`)) > 0, token);
}

test('a crash between any two effects loses nothing acknowledged, and the erasure is completed', async () => {
  const whole = await Machine.start();
  await life(whole);
  const steps = whole.trace.length;
  assert.ok(steps > 30);
  for (let crashAt = 0; crashAt < steps; crashAt++) {
    const why = `crash at ${crashAt}`;
    const machine = await Machine.start();
    machine.life = crashAt;
    await life(machine).then(
      () => assert.unreachable('the crash did not come'),
      (error: unknown) => assert.ok(error instanceof Crash, `${crashAt}: ${error}`),
    );
    const isErasureBegun = machine.actor.state.erasures.size > 0;
    machine.life = Number.POSITIVE_INFINITY;
    await recovered(machine);
    const { state } = machine.actor;
    const isErased = machine.answers.has('erase') || (isErasureBegun && state.auditSeqs.length === 3);
    if (isErased) assertErased(machine, 'victim', why);
    assertIntact(machine, why);
    const digest = stateDigest(state);
    machine.restart();
    assert.is(stateDigest(machine.actor.state), digest, why);
  }
});

test('recovery decides about a commit that was refused or whose answer was lost', async () => {
  for (const fault of ['refuse', 'lose'] as const) {
    for (let at = 1; at < 12; at++) {
      const machine = await Machine.start(new MemoryLog((append) => (append === at ? fault : 'ok')));
      await life(machine).then(
        () => assert.unreachable('the fault did not come'),
        () => undefined,
      );
      await recovered(machine);
    }
  }
});

test.run();
