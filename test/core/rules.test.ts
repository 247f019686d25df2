import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decideEvent } from '../../bench/core/decide-event.js';
import type { ChangePeer } from '../../src/core/commands.js';
import { decidePeerChange, decidePreTrust, decidePurge, decideRegistration } from '../../src/core/rules/decide-peer.js';
import { decideErasure, decideErasureRefused } from '../../src/core/rules/decide-removal.js';
import { decideHalfLife } from '../../src/core/rules/decide-setting.js';
import { NO_KEY, OPERATOR, type PeerStatus } from '../../src/core/vocabulary.js';
import type { Outcome } from '../../src/errors.js';
import { limits } from '../../src/limits.js';
import { bounds, dayMs, Given, subjectOf, t0 } from '../support/given.js';

const codeOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'ok' : outcome.code);

test('the checks of an event come in the order of the contract', () => {
  const given = new Given().peers(2);
  given.event(0, 'a', { eventId: 'taken' });
  const faults = {
    schemaVersion: '2.0.0',
    peerId: 'peer-1',
    gameId: 'other',
    subject: null,
    timestamp: t0 + 2 * dayMs,
    origin: 'nobody declared it',
    eventId: 'taken',
  };
  const order = [
    ['schemaVersion', 'unsupported_schema_version'],
    ['peerId', 'peer_id_mismatch'],
    ['gameId', 'game_id_not_registered'],
    // The code of a group that accepts raw ids; in high-security mode it is subject_hash_required.
    ['subject', 'player_id_not_canonical'],
    ['timestamp', 'timestamp_in_future'],
    ['eventId', 'duplicate_event'],
    ['origin', 'unknown_origin'],
  ] as const;
  const remaining: Record<string, unknown> = { ...faults };
  for (const [field, code] of order) {
    const submission = given.submission(0, 'a', remaining);
    assert.is(codeOf(decideEvent(given.state, 0, submission, t0)), code);
    delete remaining[field];
  }
  assert.is(codeOf(decideEvent(given.state, 0, given.submission(0, 'a'), t0)), 'ok');
});

test('an event counts up to 20 half-lives of its kind; an older one is stored and is neither evidence nor witness', () => {
  const given = new Given(30).peers(1).weigh();
  const send = (player: string, days: number, eventType: 'report_cheating' | 'ban_applied') =>
    given.event(0, player, { eventType, timestamp: t0 - days * dayMs });
  for (const [eventType, most] of [
    ['report_cheating', 600],
    ['ban_applied', 3600],
  ] as const) {
    send(`${eventType} in time`, most, eventType);
    send(`${eventType} too old`, most + 1, eventType);
    const lowers = (player: string) => given.sums(player).lowering + given.sums(player).measure > 0;
    assert.equal([lowers(`${eventType} in time`), lowers(`${eventType} too old`)], [true, false]);
    const { score, confidence, eventCount } = given.trust(`${eventType} too old`);
    assert.equal([score, confidence, eventCount], [50, 0, 1]);
    const explained = given.explain(`${eventType} too old`);
    assert.equal([explained.peers, explained.witnesses, explained.banned], [0, 0, 0]);
  }
  const { state } = new Given(0).peers(1);
  const decided = decideEvent(state, 0, given.submission(0, 'a', { timestamp: t0 - 9_999 * dayMs }), t0);
  assert.is(decided.ok && decided.value.mass, -1, 'without decay every event counts');
});

test('without authentication the body names the peer: unknown, then not active', () => {
  const given = new Given().peers(1);
  const submit = (peerId: string) => codeOf(decideEvent(given.state, null, given.submission(0, 'a', { peerId }), t0));
  assert.is(submit('nobody'), 'unknown_peer');
  given.setStatus('peer-0', 'suspended');
  assert.is(submit('peer-0'), 'peer_not_active');
});

test('exactly 24 hours ahead is accepted, a millisecond more is not', () => {
  const given = new Given().peers(1);
  assert.is(codeOf(given.event(0, 'a', { timestamp: t0 + dayMs })), 'ok');
  assert.is(codeOf(given.event(0, 'a', { timestamp: t0 + dayMs + 1 })), 'timestamp_in_future');
});

test('an event of the year 1 is accepted and has no evidence', () => {
  const given = new Given(1).peers(1);
  assert.is(codeOf(given.event(0, 'a', { timestamp: Date.parse('0001-01-01T00:00:00Z') })), 'ok');
  assert.is(given.trust('a').score, 50);
});

test('a duplicate reveals the first arrival to its own peer only', () => {
  const given = new Given().peers(2);
  given.event(0, 'a', { eventId: 'x' }, t0 + 5);
  given.event(0, 'a', {}, t0 + 9);
  const own = decideEvent(given.state, 0, given.submission(0, 'b', { eventId: 'x' }), t0 + 10);
  assert.equal(own.ok ? null : own.details, { event_id: 'x', originally_received_at: '2026-01-01T00:00:00.005Z' });
  const other = decideEvent(given.state, 1, given.submission(1, 'b', { eventId: 'x' }), t0 + 10);
  assert.equal(other.ok ? null : other.details, { event_id: 'x', owner: 'other' });
});

test('revocation is final, suspension is not', () => {
  const given = new Given().peers(1);
  const change = (status: PeerStatus) => codeOf(given.setStatus('peer-0', status));
  assert.equal(
    [change('suspended'), change('active'), change('revoked'), change('revoked'), change('active')],
    ['ok', 'ok', 'ok', 'ok', 'peer_not_active'],
  );
});

test('a rotated key dies at once, or when its overlap ends', () => {
  const given = new Given().peers(1);
  const rotate = (keyDigest: string, overlapMs: number) =>
    given.done(
      decidePeerChange(given.state, { type: 'rotate_key', peerId: 'peer-0', keyDigest, overlapMs, by: 't' }, t0),
    );
  const works = (digest: string, at: number) => given.state.peers.byKey(digest, at) !== undefined;
  rotate('second', 0);
  assert.equal([works('key-0', t0), works('second', t0)], [false, true]);
  rotate('third', 1000);
  assert.equal([works('second', t0 + 999), works('second', t0 + 1000), works('third', t0)], [true, false, true]);
  assert.is(works('second', t0 - 365 * dayMs), false, 'the clock was ahead');
});

test('a note and a public key are audited unless repeated, and a revoked peer is given notes alone', () => {
  const given = new Given().peers(1);
  const put = (change: { note: string | null } | { publicKey: string | null }) => {
    const type = 'note' in change ? 'note' : 'public_key';
    const command = { type, peerId: 'peer-0', by: 't', ...change } as ChangePeer;
    const { records, outcome } = decidePeerChange(given.state, command, t0);
    given.apply(records, t0);
    const { note, publicKey } = given.state.peers.at(0);
    return [codeOf(outcome), ...records.map((record) => 'audit' in record && record.audit.action), note ?? publicKey];
  };
  assert.equal(put({ publicKey: null }), ['ok', undefined]);
  assert.equal(put({ publicKey: 'key' }), ['ok', 'peer_public_key_set', 'key']);
  assert.equal(put({ publicKey: 'key' }), ['ok', 'key']);
  assert.equal(put({ publicKey: null }), ['ok', 'peer_public_key_removed', undefined]);
  assert.equal(put({ note: 'asked on Friday' }), ['ok', 'peer_noted', 'asked on Friday']);
  assert.equal(put({ note: 'asked on Friday' }), ['ok', 'asked on Friday']);
  given.setStatus('peer-0', 'revoked');
  assert.equal(put({ note: 'its key was stolen' }), ['ok', 'peer_noted', 'its key was stolen'], 'why it was revoked');
  assert.equal(put({ note: null }), ['ok', 'peer_noted', undefined]);
  assert.equal(put({ publicKey: 'key' }), ['peer_not_active', undefined]);
});

test('neither a key with half of the digest of a peer nor an old key is the key of that peer', () => {
  const given = new Given().peers(1);
  const digestOf = (first: string, last: string) => first.repeat(63) + last;
  for (const keyDigest of [digestOf('a', '1'), digestOf('b', '1')]) {
    const command = { type: 'rotate_key', peerId: 'peer-0', keyDigest, overlapMs: 1000, by: 't' } as const;
    given.done(decidePeerChange(given.state, command, t0));
  }
  const found = (digest: string) => given.state.peers.byKey(digest, t0)?.peerId;
  assert.equal([found(digestOf('a', '1')), found(digestOf('b', '1'))], ['peer-0', 'peer-0']);
  assert.equal([found(digestOf('a', '2')), found(digestOf('b', '2'))], [undefined, undefined]);
  assert.is(found(digestOf('b', '1').slice(0, 63)), undefined);
});

test('a revoked peer leaves the pre-trusted and cannot come back', () => {
  const given = new Given().peers(2);
  const preTrust = (change: 'add' | 'remove', peerId: string) => {
    const { records, outcome } = decidePreTrust(given.state, { change, peerId, by: 't' }, t0);
    given.apply(records, t0);
    return [codeOf(outcome), ...records.map((record) => 'audit' in record && record.audit!.action)];
  };
  assert.equal(preTrust('add', 'peer-0'), ['ok', 'pre_trust_added']);
  assert.equal(preTrust('add', 'nobody'), ['unknown_peer']);
  assert.equal(preTrust('add', 'peer-1'), ['ok', 'pre_trust_added']);
  assert.equal(preTrust('remove', 'peer-1'), ['ok', 'pre_trust_removed']);
  assert.equal(given.state.preTrusted, [0]);
  given.setStatus('peer-0', 'revoked');
  assert.equal([given.state.preTrusted, preTrust('add', 'peer-0')], [[], ['peer_not_active']]);
});

test('so many peers are pre-trusted and no more', () => {
  const given = new Given().peers(limits.preTrustedMax + 1);
  const codes = given.state.peers.list.map(({ peerId }) => {
    const { records, outcome } = decidePreTrust(given.state, { change: 'add', peerId, by: 't' }, t0);
    given.apply(records, t0);
    return codeOf(outcome);
  });
  assert.equal(codes, [...Array(limits.preTrustedMax).fill('ok'), 'overloaded']);
});

test('a change of status looks at one peer, however many there are', () => {
  const given = new Given().peers(20).weigh({ witness: [0, 0] });
  const looked: number[] = [];
  const { peerWeights } = given.state;
  const refreshPeer = peerWeights.refreshPeer.bind(peerWeights);
  peerWeights.refreshPeer = (state, peer) => {
    looked.push(peer);
    refreshPeer(state, peer);
  };
  given.setStatus('peer-1', 'revoked');
  assert.equal(looked, [1]);
  assert.equal([...peerWeights.excluded.subarray(0, 3)], [0, 1, 0]);
  assert.equal([...peerWeights.isGrouped.subarray(0, 3)], [1, 1, 0]);
});

test('a revoked peer without events frees its place, and the operator has reserved places', () => {
  const given = new Given();
  const register = (byOperator: boolean) => {
    const index = given.state.peers.size;
    const more = { peerName: 'p', gameIds: ['g1'], keyDigest: `k${index}`, by: 'test', byOperator };
    return codeOf(
      given.done(decideRegistration(given.state, { ...bounds, peersMax: 2 }, { peerId: `peer-${index}`, ...more }, t0)),
    );
  };
  assert.equal([register(false), register(false), register(false)], ['ok', 'ok', 'overloaded']);
  for (let place = 0; place < limits.peersReserve; place++) assert.is(register(true), 'ok');
  assert.is(register(true), 'overloaded');
  given.event(0, 'a');
  const purge = decidePurge(given.state, { idleMs: 1_000, by: 'test' }, t0 + 1_000);
  assert.equal(purge.outcome, { ok: true, value: [] }, 'none is idle for longer');
  const { records } = decidePurge(given.state, { idleMs: 1_000, by: 'test' }, t0 + 1_001);
  given.apply(records, t0 + 1_001);
  assert.equal(given.state.peers.byStatus(), { active: 1, suspended: 0, revoked: 1 + limits.peersReserve });
  assert.equal([register(false), register(false)], ['ok', 'overloaded']);
});

test('a player whose only event was withdrawn is neutral with confidence 0, and stays known', () => {
  const given = new Given().peers(1);
  const { value: seq } = given.event(0, 'a') as { value: number };
  given.withdraw(0, seq);
  const { score, confidence, verdict, eventCount } = given.trust('a');
  assert.equal([score, confidence, verdict, eventCount], [50, 0, 'neutral', 0]);
});

test('only the peer that sent an event can withdraw it, once', () => {
  const given = new Given().peers(2);
  const { value: seq } = given.event(0, 'a') as { value: number };
  assert.equal(
    [1, 0, 0].map((caller) => given.withdraw(caller, seq)),
    ['event_not_found', 'ok', 'event_not_found'],
  );
});

test('a change of half-life changes no score, also where the clock was ahead as the group was formed', () => {
  const given = new Given(30).peers(1).weigh();
  const now = t0 - 365 * dayMs;
  for (let i = 0; i < 5; i++) given.event(0, 'a', { timestamp: now - 20 * dayMs }, now - 20 * dayMs);
  const score = () => given.trust('a', now).score;
  const before = score();
  assert.ok(before < 48);
  for (const days of [60, 15, 0, 30]) {
    given.done(decideHalfLife(given.state, 'claims', days, now), now);
    assert.ok(Math.abs(score() - before) < 1e-9, `${days} days: ${score()} for ${before}`);
  }
});

test('a half-life does not change while the clock is more than an hour behind the newest evidence', () => {
  const given = new Given(30).peers(2);
  given.event(0, 'a', { timestamp: t0 }, t0);
  for (const [behindMs, isTaken] of [
    [6 * 365 * dayMs, false],
    [2 * 3_600_000, false],
    [1_800_000, true],
  ] as const) {
    const { records, outcome } = decideHalfLife(given.state, 'claims', 1, t0 - behindMs);
    assert.equal([outcome.ok, records.length], [isTaken, isTaken ? 1 : 0]);
    if (!outcome.ok)
      assert.match(outcome.text ?? '', /^the clock is [\d.]+ days behind the newest evidence; set it right/);
  }
});

test('reports from while the clock was years behind never count for more than they did', () => {
  const given = new Given(30).peers(2);
  given.event(0, 'newest', { timestamp: t0 }, t0);
  const lagging = t0 - 6 * 365 * dayMs;
  given.event(1, 'a', { timestamp: lagging, severity: 1 }, lagging);
  const mass = () => given.explain('a', lagging).lowering;
  assert.ok(Math.abs(mass() - 1) < 1e-9);
  given.done(decideHalfLife(given.state, 'claims', 1, lagging), lagging);
  assert.ok(Math.abs(mass() - 1) < 1e-9, String(mass()));
});

const erasure = (player: string, caller = 0) => ({ caller, subject: subjectOf(player), commitment: 'c', by: 't' });
const byOperator = { ...bounds, erasureMode: 'operator', erasureQuotaPerDay: 1000 } as const;

test('an erased subject is unknown at once; an erasure that needs the operator is pending first', () => {
  const given = new Given().peers(1);
  given.event(0, 'a');
  given.done(decideErasure(given.state, byOperator, erasure('a'), t0));
  assert.ok(given.row('a') >= 0);
  assert.is(given.state.erasureRequests.pending, 1);
  const [request] = given.state.erasureRequests.of(subjectOf('a').toString('hex')).pending;
  assert.equal(request, { seq: given.state.lastSeq, peer: 0, reason: 'operator_mode' });
  given.done(decideErasure(given.state, byOperator, erasure('a', OPERATOR), t0));
  assert.equal([given.row('a'), given.state.erasureRequests.pending], [-1, 0]);
  assert.is(codeOf(decideErasure(given.state, bounds, erasure('a'), t0).outcome), 'subject_not_found');
});

test('each refused request names its peers and its reason until they ask again, and goes with an erasure', () => {
  const given = new Given().peers(2);
  given.event(0, 'a');
  const request = (peer: number) => given.done(decideErasure(given.state, byOperator, erasure('a', peer), t0));
  const refuse = (reason = 'banned twice') =>
    decideErasureRefused(given.state, { subject: subjectOf('a'), reason, by: 'operator' }, t0 + 1);
  assert.is(codeOf(refuse().outcome), 'subject_not_found');
  request(0);
  request(1);
  const [record] = refuse().records;
  assert.not.match(JSON.stringify((record as { audit: unknown }).audit), /banned twice/);
  given.apply(refuse().records, t0 + 1);
  const { erasureRequests } = given.state;
  assert.is(erasureRequests.pending, 0);
  const subject = subjectOf('a').toString('hex');
  const refused = () => erasureRequests.of(subject).refused.map(({ reason, peers }) => [reason, ...peers]);
  assert.equal([refused(), erasureRequests.of(subject).refused[0]!.at], [[['banned twice', 0, 1]], t0 + 1]);
  assert.is(codeOf(refuse().outcome), 'subject_not_found');
  // A peer that asks again waits again.
  request(1);
  assert.is(erasureRequests.pending, 1);
  assert.equal(refused(), [['banned twice', 0]]);
  given.apply(refuse('not yours').records, t0 + 1);
  assert.equal(refused(), [
    ['not yours', 1],
    ['banned twice', 0],
  ]);
  request(0);
  assert.equal(refused(), [['not yours', 1]]);
  request(OPERATOR);
  assert.equal(erasureRequests.all(), []);
  // Four requests, two refusals and the event.
  assert.is([...given.state.erasures.values()][0]!.heads.length, 7);
});

test('the operator settles a request for a player of whom nothing is known any more', () => {
  const given = new Given().peers(1);
  given.event(0, 'a');
  given.done(decideErasure(given.state, byOperator, erasure('a'), t0));
  given.state.subjects.remove(subjectOf('a'));
  assert.is(codeOf(decideErasure(given.state, byOperator, erasure('a'), t0).outcome), 'subject_not_found');
  const outcome = given.done(decideErasure(given.state, byOperator, erasure('a', OPERATOR), t0));
  assert.is(outcome.ok && outcome.value.events, 0);
  assert.is(given.state.erasureRequests.pending, 0);
  assert.is([...given.state.erasures.values()][0]!.heads.length, 1);
});

test('requests that wait for the operator are held once per player, and all are named to the erasure', () => {
  const given = new Given().peers(1);
  given.event(0, 'a');
  for (let i = 0; i < 100; i++) given.done(decideErasure(given.state, byOperator, erasure('a'), t0));
  assert.is(given.state.erasureRequests.pending, 1);
  given.done(decideErasure(given.state, byOperator, erasure('a', OPERATOR), t0));
  assert.is([...given.state.erasures.values()][0]!.heads.length, 101);
});

test('in mode own a peer a day old erases players it alone reported; other erasures wait for the operator', () => {
  const given = new Given().peers(2);
  for (const [peer, player] of [
    [0, 'mine'],
    [0, 'shared'],
    [1, 'shared'],
  ] as const)
    given.event(peer, player);
  const own = { ...bounds, erasureQuotaPerDay: 100, erasureMode: 'own' } as const;
  const outcome = (player: string, caller: number, now: number) => {
    const decided = decideErasure(given.state, own, erasure(player, caller), now).outcome;
    return decided.ok && (decided.value.pending ? 'pending' : 'erased');
  };
  assert.is(outcome('mine', 0, t0 + dayMs - 1), 'pending');
  assert.is(outcome('mine', 0, t0 + dayMs), 'erased');
  for (const caller of [1, NO_KEY]) assert.is(outcome('mine', caller, t0 + dayMs), 'pending');
  assert.is(outcome('shared', 0, t0 + dayMs), 'pending');
  assert.is(outcome('shared', OPERATOR, t0), 'erased');
});

test('an event that was erased cannot be withdrawn, even where the log still shows it', () => {
  const given = new Given().peers(1);
  const { value: seq } = given.event(0, 'a') as { value: number };
  given.done(decideErasure(given.state, bounds, erasure('a'), t0));
  given.event(0, 'a');
  assert.is(given.withdraw(0, seq), 'event_not_found');
});

test.run();
