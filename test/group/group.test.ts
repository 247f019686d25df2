/** Tests the commands of a group through its actor, its reads of the state, and the work that it passes to the pool. */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readAgain } from '../../src/core/rules/decide-removal.js';
import { type Outcome, refused } from '../../src/errors.js';
import type { PeerView } from '../../src/group/api.js';
import type { ClusterHealth } from '../../src/group/cluster-api.js';
import { createGroup, type GroupDeps } from '../../src/group/group.js';
import { healthOf } from '../../src/group/group-health.js';
import { type GroupPool, PoolBusyError } from '../../src/group/ports/pool.js';
import { StoreEndedError } from '../../src/group/ports/storage.js';
import { limits } from '../../src/limits.js';
import { withBounds } from '../sim/profile.js';
import { bounds, dayMs, hourMs, subjectOf, submissionOf, t0 } from '../support/given.js';
import { codeOf } from './commands.js';
import { Machine } from './machine.js';
import { groupOn, type MachineGroup } from './machine-group.js';

const hex = (player: string) => subjectOf(player).toString('hex');
const sha256 = (text: string) => hash('sha256', text, 'hex');

function resultOf<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.code);
  return outcome.value;
}

/** A group in which so many peers registered. */
async function started(peers = 2, erasureMode: 'peer' | 'operator' = 'peer') {
  const made = groupOn(await Machine.start(undefined, { ...bounds, erasureQuotaPerDay: 100, erasureMode }));
  const issued: { readonly peer: PeerView; readonly apiKey: string }[] = [];
  for (let i = 0; i < peers; i++)
    issued.push(resultOf(await made.group.register({ peerName: `P${i}`, gameIds: ['g1'] }, 'test')));
  return { ...made, issued, peers: issued.map(({ peer }) => peer) };
}

/** A group in which the second of two peers disputes what the first one says of each of the players. */
async function disputed(...players: readonly string[]) {
  const made = await started(2);
  const ids: string[] = [];
  for (const player of players) {
    await report(made, made.peers[0]!, player);
    ids.push(resultOf(await made.group.dispute(made.peers[1]!, subjectOf(player), 'no')).id);
  }
  return { ...made, ids };
}

let sent = 0;

const reportOf = ({ machine }: MachineGroup, { peerId }: PeerView, player: string, more = {}) =>
  submissionOf(`event-${sent++}`, player, { peerId, timestamp: machine.now - sent, ...more });

async function report(made: MachineGroup, peer: PeerView, player: string, more = {}): Promise<string> {
  const event = reportOf(made, peer, player, more);
  const [outcome] = await made.group.submit(peer, [event]);
  assert.is(codeOf(outcome!), 'ok');
  return event.eventId;
}

test('a group is drained once its loop is: it reports a loop that could not store what was under way', async () => {
  const loop = { drain: () => Promise.reject(new Error('no space left')) };
  const group = createGroup({ current: { loop } } as unknown as GroupDeps);
  const failure = await group.drain().catch((error: Error) => error.message);
  assert.is(failure, 'no space left');
});

test('health names the first reason that holds, and a group that cannot write is ready all the same', async () => {
  const { loop, machine } = await started(1);
  const stale = { isStale: true } as ClusterHealth;
  const reasonOf = (changes: object, isOpen = true, cluster: ClusterHealth | null = null) => {
    const changed = Object.create(loop, Object.getOwnPropertyDescriptors(changes));
    const { ready, writable, reason } = healthOf(changed, isOpen, cluster);
    return [ready, writable, reason];
  };
  const unfit = { clockGuard: { clockAhead: true }, disk: { low: true }, logIsFull: true, stalled: true };
  assert.equal(reasonOf({}), [true, true, undefined]);
  assert.equal(reasonOf({ ...unfit, failed: true }, false, stale), [false, false, 'log_failed']);
  assert.equal(reasonOf({ ...unfit, draining: true }, false, stale), [false, false, 'draining']);
  assert.equal(reasonOf(unfit, false, stale), [false, false, 'recovering']);
  assert.equal(reasonOf(unfit, true, stale), [false, false, 'stale']);
  assert.equal(reasonOf(unfit), [true, false, 'clock_ahead']);
  const right = { clockGuard: { clockAhead: false } };
  assert.equal(reasonOf({ ...unfit, ...right }), [true, false, 'disk_low']);
  assert.equal(reasonOf({ ...right, logIsFull: true, stalled: true }), [true, false, 'log_full']);
  const current = { isStale: false } as ClusterHealth;
  assert.equal(reasonOf({ stalled: true }, true, current), [true, false, 'log_unreachable']);
  const { durableSeq, state } = machine.actor;
  state.evidenceSeq = 1;
  const weightsOf = (weights: object) =>
    healthOf({ ...loop, ...machine, actor: machine.actor, state, weights } as never, true, null).weights.basedOnSeq;
  assert.is(weightsOf({ basedOnSeq: 1, computedAt: t0 }), durableSeq, 'later records do not affect weights');
  assert.is(weightsOf({ basedOnSeq: 0, computedAt: t0 }), 0);
  assert.is(weightsOf({ basedOnSeq: 1, computedAt: null }), 1);
});

test('a group is ready from its opening until it is drained or abandoned, unless its log failed', async () => {
  const { group, loop } = await started(0);
  const ended: string[] = [];
  Object.assign(loop, { drain: async () => ended.push('drained'), abandon: () => ended.push('abandoned') });
  const seen = [group.isReady];
  for (const end of [() => group.drain(), () => group.abandon()]) {
    group.open();
    seen.push(group.isReady);
    await end();
    seen.push(group.isReady);
  }
  group.open();
  loop.failed = true;
  assert.equal([...seen, group.isReady], [false, true, false, true, false, false]);
  assert.equal(ended, ['drained', 'abandoned']);
});

test('a key is issued once, names its environment, and is found by its digest alone', async () => {
  const { group, issued } = await started(2);
  const { apiKey, peer } = issued[1]!;
  assert.match(apiKey, /^ptf_dev_[\w-]{43}$/);
  assert.is(group.peerByKeyDigest(sha256(apiKey))?.peerId, peer.peerId);
  const rotated = resultOf(await group.rotateKey(peer.peerId, 0, 'test'));
  assert.is(group.peerByKeyDigest(sha256(apiKey)), undefined);
  const later = resultOf(await group.rotateKey(peer.peerId, 60_000, 'test'));
  // During an overlap each key is known by itself.
  for (const key of [rotated.apiKey, later.apiKey])
    assert.is(group.peerByKeyDigest(sha256(key))?.keyDigest, sha256(key));
  assert.is(group.peerByKeyDigest(sha256(rotated.apiKey))?.index, 1);
  assert.is(codeOf(await group.rotateKey('nobody', 0, 'test')), 'unknown_peer');
});

test('an event is withdrawn by its own peer or without authentication, and an unknown one by nobody', async () => {
  const made = await started(2);
  const { group, loop, peers, machine } = made;
  const [first, second] = [await report(made, peers[0]!, 'p'), await report(made, peers[0]!, 'p')];
  const codes = async (caller: PeerView | null, eventId: string) => codeOf(await group.withdraw(caller, eventId));
  assert.is(await codes(peers[0]!, 'unknown'), 'event_not_found');
  await report(made, peers[1]!, 'p');
  const walked: number[] = [];
  const { chain } = loop.pool;
  loop.pool.chain = (query) => {
    walked.push(query.head);
    return chain!(query);
  };
  assert.is(await codes(peers[1]!, first), 'event_not_found');
  assert.equal(walked, [], 'the time of a walk would reveal the event to another peer');
  const { lastSeq } = machine.actor.state;
  assert.equal([await codes(peers[0]!, first), await codes(null, second)], ['ok', 'ok']);
  assert.equal(walked[0], lastSeq - 1, 'the chain of the peer that sent the event');
  assert.is(await codes(peers[0]!, first), 'event_not_found', 'its bytes are gone');
  assert.is(machine.actor.state.subjects.entries.count(0), 0);
  const third = await report(made, peers[0]!, 'p');
  loop.pool.records = () => Promise.reject(new PoolBusyError());
  assert.is(await codes(peers[0]!, third), 'overloaded');
  loop.pool.records = () => Promise.reject(new StoreEndedError());
  assert.is(await codes(peers[0]!, third), 'dependency_unavailable');
  loop.admit = () => refused('no_leader');
  const refusals = [await codes(peers[0]!, third), codeOf(await group.playerEvents(subjectOf('p'), null, 1, null))];
  assert.equal([...refusals, codeOf(await group.purgePeers(1, 'op'))], Array(3).fill('no_leader'));
});

test('a withdrawal reads again while its pair changes, and gives up after so many tries', async () => {
  for (const changes of [limits.rereadTries - 1, limits.rereadTries]) {
    const made = await started(1);
    const eventId = await report(made, made.peers[0]!, 'p');
    let tries = 0;
    const { admit } = made.loop as unknown as {
      admit(envelope: { command: object; token: (answer: unknown) => void }): unknown;
    };
    made.loop.admit = (envelope: { command: { type: string }; token: (answer: unknown) => void }) => {
      if (envelope.command.type !== 'withdraw' || tries++ >= changes) return admit(envelope);
      envelope.token(readAgain);
      return undefined;
    };
    const code = codeOf(await made.group.withdraw(made.peers[0]!, eventId));
    assert.equal([code, tries], changes < limits.rereadTries ? ['ok', changes + 1] : ['overloaded', changes]);
  }
});

test("a listing has the caller's own events, marks disputed ones, and shows the caller's refused erasure", async () => {
  const made = await started(3, 'operator');
  const { group, peers } = made;
  const [a, b, c] = peers as [PeerView, PeerView, PeerView];
  assert.is(codeOf(await group.playerEvents(subjectOf('p'), a, 10, null)), 'player_not_found');
  const ids = [await report(made, a, 'p'), await report(made, a, 'p')];
  await report(made, b, 'p');
  const read = async (caller: PeerView | null, limit = 10, from: readonly number[] | null = null) =>
    resultOf(await group.playerEvents(subjectOf('p'), caller, limit, from));
  assert.is(codeOf(await group.playerEvents(subjectOf('p'), a, 10, [99])), 'invalid_parameter');
  const first = await read(a, 1);
  const second = await read(a, 1, first.next);
  assert.equal(
    [first, second].map(({ own }) => own.map(({ eventId }) => eventId)),
    [[ids[1]], [ids[0]]],
  );
  const { total, summarised, own, next } = await read(null);
  assert.equal([total, summarised, own, next], [3, 3, [], null]);
  assert.equal(group.disputedFor(hex('p')), []);
  await group.dispute(c, subjectOf('p'), 'no', b.peerId);
  assert.equal([(await read(a)).own[0]!.disputed, (await read(b)).own[0]!.disputed], [undefined, true]);
  assert.equal(group.disputedFor(hex('p')), [b.index]);
  assert.equal(resultOf(await group.erase(a, subjectOf('p'))).status, 'pending');
  assert.is(codeOf(await group.refuseErasure(subjectOf('p'), 'banned', 'op')), 'ok');
  const answers = await Promise.all([a, b, null].map(async (caller) => (await read(caller)).erasureRefused?.reason));
  assert.equal(answers, ['banned', undefined, undefined]);
});

test('an own event has its origin and its reference, and is without them if its peer sent none', async () => {
  const made = await started(1);
  await made.group.changeOrigin('add', 'list', 'op');
  await report(made, made.peers[0]!, 'p');
  await report(made, made.peers[0]!, 'p', { origin: 'list', reference: 'case 7' });
  const { own } = resultOf(await made.group.playerEvents(subjectOf('p'), made.peers[0]!, 10, null));
  assert.equal(
    own.map(({ origin, reference }) => `${origin}: ${reference}`),
    ['list: case 7', 'undefined: undefined'],
  );
});

test("an erasure's receipt proves its audit entry, and the peers whose events were erased read the time", async () => {
  const made = await started(2);
  const { group, machine, peers } = made;
  const [a, b] = peers as [PeerView, PeerView];
  for (const peer of [a, a, b]) await report(made, peer, 'p');
  machine.now = t0 + hourMs;
  assert.is(group.hasErasedSince(a, 0), false);
  const erasure = resultOf(await group.erase(a, subjectOf('p')));
  const { status, reason, eventsErased, erasedAt } = erasure;
  assert.equal([status, reason, eventsErased, erasedAt], ['erased', null, 3, machine.now]);
  const { entries } = resultOf(await group.auditTail(1));
  assert.equal([entries[0]!.actor, entries[0]!.target], [a.peerId, sha256(erasure.receipt + hex('p'))]);
  assert.equal([group.hasErasedSince(a, t0 + hourMs), group.hasErasedSince(a, t0 + hourMs + 1)], [true, false]);
  assert.equal([group.sharedErasures(a), group.sharedErasures(b)], [1, 0]);
  const when = { receivedAt: t0, erasedAt: t0 + hourMs };
  assert.equal(group.ownErasures(a, 0, 1), { total: 2, events: [when], next: 1 });
  assert.equal(group.ownErasures(a, 1, 9), { total: 2, events: [when], next: null });
  await report(made, b, 'q');
  resultOf(await group.erase(null, subjectOf('q')));
  assert.is(resultOf(await group.auditTail(1)).entries[0]!.actor, 'anonymous');
});

test('pages of the audit log continue until its end, and its tail ends below a record', async () => {
  const { group, loop } = await started(4);
  const seqs = async (page: ReturnType<typeof group.audit>) => {
    const { entries, nextAfter } = resultOf(await page);
    return [entries.map(({ seq }) => seq), nextAfter];
  };
  assert.equal(await seqs(group.audit(0, 2)), [[1, 2], 2]);
  assert.equal(await seqs(group.audit(2, 3)), [[3, 4, 5], null]);
  assert.equal(await seqs(group.audit(5, 3)), [[], null]);
  assert.equal(await seqs(group.auditTail(2)), [[4, 5], null]);
  assert.equal(await seqs(group.auditTail(2, 4)), [[2, 3], 3]);
  assert.equal(await seqs(group.auditTail(9, 3)), [[1, 2], 2]);
  Object.assign(loop.actor as object, { durableSeq: 3 });
  assert.equal(await seqs(group.audit(0, 9)), [[1, 2, 3], null], 'of durable records alone');
});

test('players are read by verdict in pages, and explained as allowed until their allow list entry ends', async () => {
  const made = await started(1);
  const { group, machine, peers } = made;
  for (const player of ['a', 'b', 'c']) await report(made, peers[0]!, player);
  const subjects = (from: number, limit: number) => {
    const { players, next } = group.playersBy(['neutral'], from, limit);
    return [...players.map(({ subject }) => subject), next];
  };
  assert.equal(
    [subjects(0, 2), subjects(2, 2)],
    [
      [hex('a'), hex('b'), 2],
      [hex('c'), null],
    ],
  );
  assert.equal(group.playersBy(['untrusted'], 0, 9), { players: [], next: null });
  const explained = () =>
    Object.entries(group.explain(subjectOf('a'))!).some(([name, value]) => name === 'allowed' && value === true);
  assert.is(explained(), false);
  const entry = resultOf(await group.allowPlayer(subjectOf('a'), t0 + dayMs, 'known', 'op'));
  assert.equal(group.allowedPlayers(), [entry]);
  assert.equal([group.allowedPlayer(subjectOf('a')), group.allowedPlayer(subjectOf('b'))], [entry, undefined]);
  assert.is(explained(), true);
  machine.now = entry.until + 1;
  assert.equal([group.allowedPlayers(), explained()], [[], false]);
  assert.is(codeOf(await group.disallowPlayer(subjectOf('b'), 'op')), 'subject_not_found');
});

test('requests that wait for the operator are listed with who asked, until they are decided', async () => {
  const made = await started(1, 'operator');
  const { group, peers } = made;
  for (const player of ['a', 'b']) await report(made, peers[0]!, player);
  for (const caller of [peers[0]!, null]) await group.erase(caller, subjectOf('a'));
  await group.erase(peers[0]!, subjectOf('b'));
  await group.refuseErasure(subjectOf('b'), 'no', 'op');
  const asked = [peers[0]!.peerId, null].map((peerId) => ({ requestedAt: t0, peerId, reason: 'operator_mode' }));
  assert.equal(group.pendingErasures(), [{ subject: hex('a'), requests: asked }]);
  assert.is(group.status().pendingErasures, 1);
  assert.is(resultOf(await group.confirmErasure(subjectOf('a'), 'op')).status, 'erased');
  assert.equal(group.pendingErasures(), []);
});

test('disputes are listed from the oldest, by status and position, and decided ones from the last', async () => {
  const { group, ids, machine } = await disputed('a', 'b', 'c');
  assert.is(resultOf(await group.decideDispute('reject', ids[1]!, [], 'op')).status, 'rejected');
  const listed = (...asked: Parameters<typeof group.disputes>) =>
    group.disputes(...asked).map(({ id }) => ids.indexOf(id));
  assert.equal([listed(), listed('open'), listed('rejected'), listed(undefined, 1, 2)], [[0, 1, 2], [0, 2], [1], [1]]);
  assert.equal([group.disputeIds(), group.status().openDisputes], [ids, 2]);
  machine.now += 1;
  assert.is(resultOf(await group.decideDispute('uphold', ids[0]!, [], 'op')).status, 'upheld');
  assert.equal([listed('decided'), listed('decided', 1, 2)], [[0, 1], [1]]);
});

test('an old dispute can be rejected although the newer ones fill the register of rejected disputes', async () => {
  const { group, ids } = await disputed('a', 'b');
  await withBounds({ disputesRejectedMax: 1 }, async () => {
    for (const id of ids.toReversed())
      assert.is(resultOf(await group.decideDispute('reject', id, [], 'op')).status, 'rejected');
  });
  assert.equal(group.disputeIds(), [ids[0]]);
});

test('a status tells of a group that sends reports and neither bans nor praise for a month', async () => {
  const made = await started(1);
  const { group, machine, peers } = made;
  const reportsOnly = () => group.status().sendsReportsOnly;
  for (let i = 1; i < limits.reportsOnlyEventsMin; i++) await report(made, peers[0]!, 'p');
  assert.is(reportsOnly(), false, 'too few events to tell');
  await report(made, peers[0]!, 'p');
  assert.is(reportsOnly(), true);
  machine.now = t0 + limits.reportsOnlyMs;
  assert.is(reportsOnly(), true);
  machine.now++;
  assert.is(reportsOnly(), false, 'it sends nothing any more');
  for (const eventType of ['ban_applied', 'commendation'] as const) {
    await report(made, peers[0]!, 'p');
    assert.is(reportsOnly(), true);
    await report(made, peers[0]!, 'p', { eventType });
    assert.is(reportsOnly(), false, eventType);
    machine.now += limits.reportsOnlyMs + 1;
  }
});

test('events in a row that are too old to count are counted for the operator, until one counts', async () => {
  const made = await started(1);
  const { group, peers } = made;
  const old = t0 - 5_000 * dayMs;
  for (const timestamp of [old, old + 1]) await report(made, peers[0]!, 'p', { timestamp });
  await report(made, peers[0]!, 'p', { severity: 0 });
  await report(made, peers[0]!, 'p', { timestamp: old, eventType: 'ban_lifted' });
  assert.equal(group.tooOld(peers[0]!), { events: 2, newest: old + 1 });
  await report(made, peers[0]!, 'p');
  assert.is(group.tooOld(peers[0]!), undefined);
});

test('an export has all that names the player in log order, and its receipt proves its audit entry', async () => {
  const made = await started(2, 'operator');
  const { group, machine, peers } = made;
  const [a, b] = peers as [PeerView, PeerView];
  const subject = subjectOf('p');
  const ids: string[] = [];
  for (const peer of [a, b, a]) {
    machine.now += hourMs;
    ids.push(await report(made, peer, 'p'));
  }
  await group.withdraw(a, ids[0]!);
  const entries: string[] = [];
  for (const note of ['first', 'second']) {
    entries.push(resultOf(await group.allowPlayer(subject, t0 + 9 * dayMs, note, 'op')).entryId);
  }
  for (const caller of [a, null]) await group.erase(caller, subject);
  await group.refuseErasure(subject, 'banned', 'op');
  const { id } = resultOf(await group.dispute(null, subject, 'not him'));
  await group.decideDispute('uphold', id, [b.peerId], 'op');
  const exported = resultOf(await group.exportSubject(subject, 'op'));
  assert.equal([exported.subject, exported.isComplete, exported.exportedAt], [hex('p'), true, machine.now]);
  const voidOf = ({ isVoid }: { readonly isVoid: boolean }) => (isVoid ? 'void' : 'counts');
  assert.equal(
    exported.events.map((event) => `${event.eventId} ${voidOf(event)}`),
    [`${ids[2]} counts`, `${ids[1]} void`],
  );
  assert.equal(
    exported.sums.map((sum) => `${sum.peerId} ${sum.events} ${voidOf(sum)}`),
    [`${a.peerId} 1 counts`, `${b.peerId} 1 void`],
  );
  assert.equal(
    exported.erasureRequests.map(({ peerId }) => peerId),
    [a.peerId, null],
  );
  assert.equal(exported.refusedErasures, [{ at: machine.now, reason: 'banned' }]);
  assert.equal([exported.allowed?.note, exported.pastAllowed.map((one) => one.id)], ['second', [entries[0]]]);
  assert.equal(
    exported.disputes.map((one) => [one.id, one.status, one.voids]),
    [[id, 'upheld', [b.peerId]]],
  );
  const twice = ['player_allowed', 'player_allowed', 'erasure_requested', 'erasure_requested'];
  assert.equal(
    exported.audit.map(({ action }) => action),
    [...twice, 'erasure_refused', 'dispute_opened', 'dispute_upheld', 'subject_exported'],
  );
  assert.is(exported.audit.at(-1)!.target, sha256(exported.receipt + hex('p')));
});

test('an operator purges all idle peers however many turns it takes, and changes pre-trust and origins', async () => {
  const { group, loop, machine, peers } = await started(2);
  assert.equal(resultOf(await group.preTrust('add', peers[1]!.peerId, 'op')).preTrusted, [peers[1]!.peerId]);
  assert.equal(group.status().preTrusted, [peers[1]!.peerId]);
  assert.equal(group.settings(), { RETENTION_DAYS: 7, PRE_TRUSTED_PEERS: peers[1]!.peerId });
  const { name, isDeclared } = resultOf(await group.changeOrigin('add', 'list', 'op'));
  assert.equal([name, isDeclared, group.origins().length], ['list', true, 1]);
  assert.is(resultOf(await group.changeOrigin('remove', 'list', 'op')).isDeclared, false);
  assert.is(codeOf(await group.changeOrigin('remove', 'other', 'op')), 'unknown_origin');
  const answers = [['a'], ['b', 'c'], []];
  machine.now = t0 + dayMs;
  const { admit } = loop as { admit: unknown };
  loop.admit = ({ token }: { token: (answer: unknown) => void }) => void token({ ok: true, value: answers.shift() });
  assert.equal(resultOf(await group.purgePeers(1, 'op')), ['a', 'b', 'c']);
  const halfway = [{ ok: true, value: ['a', 'b'] }, refused('no_leader')];
  loop.admit = ({ token }: { token: (answer: unknown) => void }) => void token(halfway.shift());
  assert.equal(await group.purgePeers(1, 'op'), {
    ...refused('no_leader'),
    text: '2 peers were revoked (see the audit log), the others not: no_leader',
  });
  loop.admit = admit;
  assert.equal(resultOf(await group.purgePeers(1, 'op')), [peers[0]!.peerId]);
});

test('the walk of the log for a repeated event is charged to the holder of the call', async () => {
  const made = await started(2);
  const { group, loop, machine, peers } = made;
  const holders: unknown[] = [];
  const { repeats } = loop.pool;
  loop.pool.repeats = (query) => {
    holders.push(query.holder);
    return repeats!(query);
  };
  await report(made, peers[1]!, 'p', { timestamp: t0 });
  for (const holder of [undefined, 77]) {
    machine.restart();
    await group.submit(peers[1]!, [reportOf(made, peers[1]!, 'p', { timestamp: t0 })], holder);
  }
  assert.equal(holders, [peers[1]!.index, 77]);
});

test('one simulation and one verification run at a time, even after a failure; a busy pool is overload', async () => {
  const { group, loop } = await started(1);
  const query = { preTrusted: null, without: [], halfLifeDays: null, banHalfLifeDays: null, rowsMax: 5 };
  assert.is(codeOf(await group.simulate({ ...query, without: ['nobody'] })), 'unknown_peer');
  assert.is(codeOf(await group.simulate({ ...query, preTrusted: ['nobody'] })), 'unknown_peer');
  assert.is(codeOf(await group.simulate(query)), 'ok');
  const report = {} as Awaited<ReturnType<GroupPool['verify']>>;
  loop.pool.verify = async () => report;
  const [one, two, other] = await Promise.all([group.verify(), group.verify(), group.simulate(query)]);
  assert.equal([codeOf(one), codeOf(two), codeOf(other)], ['ok', 'overloaded', 'ok']);
  assert.is(two.ok ? '' : two.text, 'another verification is under way');
  loop.pool.verify = () => Promise.reject(new Error('damaged'));
  assert.is(await group.verify().catch((error: Error) => error.message), 'damaged');
  loop.pool.verify = () => Promise.reject(new PoolBusyError());
  assert.is(codeOf(await group.verify()), 'overloaded');
});

test('a player is unknown before its first event, and no read of a small group is long', async () => {
  const made = await started(1);
  const { group, loop } = made;
  assert.equal([group.trust(subjectOf('p')), group.explain(subjectOf('p'))], [undefined, undefined]);
  await report(made, made.peers[0]!, 'p');
  assert.is(group.trust(subjectOf('p'))?.eventCount, 1);
  assert.equal(group.counts(), { peers: 1, players: 1, events: 1 });
  assert.is(group.isLongRead(subjectOf('p')), false);
  assert.is(group.status().disk, null);
  loop.disk = { use: { freeBytes: 9 }, minBytes: 5 };
  assert.equal(group.status().disk, { freeBytes: 9, minBytes: 5 });
});

test.run();
