import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decideEvent } from '../../bench/core/decide-event.js';
import type { ChangePeer } from '../../src/core/commands.js';
import { asOfTime } from '../../src/core/evidence/decay.js';
import { decidePeerChange, decidePreTrust, decidePurge, decideRegistration } from '../../src/core/rules/decide-peer.js';
import { decideErasure, decideErasureRefused, decideExport } from '../../src/core/rules/decide-removal.js';
import { decideHalfLife } from '../../src/core/rules/decide-setting.js';
import { explanationOf } from '../../src/core/scoring/explanation.js';
import { trustOf } from '../../src/core/scoring/score.js';
import { OPERATOR, type PeerStatus } from '../../src/core/vocabulary.js';
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
    const explained = explanationOf(given.state, given.row(`${eventType} too old`), asOfTime(given.state, t0));
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
  assert.is(trustOf(given.state, given.row('a'), asOfTime(given.state, t0)).score, 50);
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

test('registration beyond the bound is refused', () => {
  const given = new Given().peers(2);
  const command = { peerId: 'p', peerName: 'P', gameIds: ['g'], keyDigest: 'k', by: 't' };
  assert.is(codeOf(decideRegistration(given.state, { ...bounds, peersMax: 2 }, command, t0).outcome), 'overloaded');
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

test('a note on a peer is audited, replaced and removed, and a repeated one writes nothing', () => {
  const given = new Given().peers(1);
  const put = (note: string | null) => {
    const decision = decidePeerChange(given.state, { type: 'note', peerId: 'peer-0', note, by: 't' }, t0);
    given.apply(decision.records, t0);
    return decision.records.map((record) => ('audit' in record ? record.audit.action : record.type));
  };
  assert.equal(put('asked on Friday'), ['peer_noted']);
  assert.equal(put('asked on Friday'), []);
  assert.is(given.state.peers.at(0).note, 'asked on Friday');
  assert.equal(put(null), ['peer_noted']);
  assert.is(given.state.peers.at(0).note, undefined);
});

test('the operator notes why a peer was revoked, and removes the note', () => {
  const given = new Given().peers(1);
  const change = (command: ChangePeer) => {
    const decision = decidePeerChange(given.state, command, t0);
    given.apply(decision.records, t0);
    return [codeOf(decision.outcome), given.state.peers.at(0).note];
  };
  const asked = { peerId: 'peer-0', by: 't' } as const;
  change({ type: 'note', note: 'asked Ann on Friday', ...asked });
  change({ type: 'peer_status', status: 'revoked', ...asked });
  assert.equal(change({ type: 'note', note: 'its key was stolen', ...asked }), ['ok', 'its key was stolen']);
  assert.equal(change({ type: 'note', note: null, ...asked }), ['ok', undefined]);
  assert.is(change({ type: 'public_key', publicKey: 'key', ...asked })[0], 'peer_not_active');
});

test('a public key is audited as it is set and removed, and a repeated one writes nothing', () => {
  const given = new Given().peers(1);
  const put = (publicKey: string | null) => {
    const decision = decidePeerChange(given.state, { type: 'public_key', peerId: 'peer-0', publicKey, by: 't' }, t0);
    given.apply(decision.records, t0);
    return decision.records.map((record) => ('audit' in record ? record.audit.action : record.type));
  };
  assert.equal([put(null), put('key'), put('key')], [[], ['peer_public_key_set'], []]);
  assert.is(given.state.peers.at(0).publicKey, 'key');
  assert.equal([put(null), put(null)], [['peer_public_key_removed'], []]);
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
  const acts: string[] = [];
  const preTrust = (change: 'add' | 'remove', peerId: string) => {
    const decision = decidePreTrust(given.state, { change, peerId, by: 't' }, t0);
    given.apply(decision.records, t0);
    for (const record of decision.records) if (record.type === 'pre_trust_set') acts.push(record.audit!.action);
    return codeOf(decision.outcome);
  };
  assert.is(preTrust('add', 'peer-0'), 'ok');
  assert.is(preTrust('add', 'nobody'), 'unknown_peer');
  assert.is(preTrust('add', 'peer-1'), 'ok');
  assert.is(preTrust('remove', 'peer-1'), 'ok');
  assert.equal(acts, ['pre_trust_added', 'pre_trust_added', 'pre_trust_removed']);
  assert.equal(given.state.preTrusted, [0]);
  given.setStatus('peer-0', 'revoked');
  assert.equal(given.state.preTrusted, []);
  assert.is(preTrust('add', 'peer-0'), 'peer_not_active');
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

test('a withdrawal leaves the pair as if the event had never been', () => {
  const given = new Given(30).peers(1);
  given.event(0, 'a');
  const { value: seq } = given.event(0, 'a', { severity: 0.3 }) as { value: number };
  given.event(0, 'b');
  assert.is(given.withdraw(0, seq, t0 + dayMs), 'ok');
  const at = asOfTime(given.state, t0 + dayMs);
  const a = trustOf(given.state, given.row('a'), at);
  assert.ok(Math.abs(a.score - trustOf(given.state, given.row('b'), at).score) < 1e-9);
  assert.is(a.eventCount, 1);
});

test('a player whose only event was withdrawn is neutral with confidence 0, and stays known', () => {
  const given = new Given().peers(1);
  const { value: seq } = given.event(0, 'a') as { value: number };
  given.withdraw(0, seq);
  const { score, confidence, verdict, eventCount } = trustOf(given.state, given.row('a'), asOfTime(given.state, t0));
  assert.equal([score, confidence, verdict, eventCount], [50, 0, 'neutral', 0]);
});

test('only the peer that sent an event can withdraw it, once', () => {
  const given = new Given().peers(2);
  const { value: seq } = given.event(0, 'a') as { value: number };
  assert.is(given.withdraw(1, seq), 'event_not_found');
  assert.is(given.withdraw(0, seq), 'ok');
  assert.is(given.withdraw(0, seq), 'event_not_found');
});

test('a withdrawal stays in force over a change of half-life', () => {
  const lives = [true, false].map((isWithdrawn) => {
    const given = new Given(30).peers(1);
    const seq = isWithdrawn ? (given.event(0, 'a') as { value: number }).value : 0;
    given.event(0, 'a', { severity: 0.3 });
    given.event(0, 'a', { eventType: 'commendation' });
    given.done(decideHalfLife(given.state, 'claims', 7, t0 + 10 * dayMs), t0 + 10 * dayMs);
    if (isWithdrawn) given.withdraw(0, seq, t0 + 11 * dayMs);
    const { entries } = given.state.subjects;
    const entry = given.state.subjects.firstEntry(given.row('a'));
    return { lowering: entries.lowering(entry), raising: entries.raising(entry) };
  });
  const [withdrawn, never] = lives as [(typeof lives)[0], (typeof lives)[0]];
  assert.is(withdrawn.raising, never.raising);
  assert.ok(never.lowering > 0 && Math.abs(withdrawn.lowering / never.lowering - 1) < 1e-12);
});

test('a change of half-life changes no score at that time', () => {
  const given = new Given(30).peers(1).weigh();
  given.event(0, 'a');
  const later = t0 + 20 * dayMs;
  const score = () => trustOf(given.state, given.row('a'), asOfTime(given.state, later)).score;
  const before = score();
  given.done(decideHalfLife(given.state, 'claims', 5, later), later);
  assert.ok(Math.abs(score() - before) < 1e-12);
  given.done(decideHalfLife(given.state, 'claims', 0, later), later);
  assert.ok(Math.abs(score() - before) < 1e-12);
});

test('nor does it where the clock was ahead as the group was formed, and is right now', () => {
  const given = new Given(30).peers(1).weigh();
  const now = t0 - 365 * dayMs;
  for (let i = 0; i < 5; i++) given.event(0, 'a', { timestamp: now - 20 * dayMs }, now - 20 * dayMs);
  const score = () => trustOf(given.state, given.row('a'), asOfTime(given.state, now)).score;
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
  const massOf = () => {
    const { lowering } = explanationOf(given.state, given.row('a'), asOfTime(given.state, lagging));
    return lowering;
  };
  assert.ok(Math.abs(massOf() - 1) < 1e-9);
  const { records } = decideHalfLife(given.state, 'claims', 1, lagging);
  given.apply(records, lagging);
  assert.ok(Math.abs(massOf() - 1) < 1e-9, String(massOf()));
});

const erasure = (player: string, caller = 0) => ({ caller, subject: subjectOf(player), commitment: 'c', by: 't' });

test('erasure is bounded by a quota in a sliding day, which binds no operator', () => {
  const given = new Given().peers(1);
  const erase = (player: string, caller: number, now: number) => {
    given.event(0, player, {}, now);
    return given.done(decideErasure(given.state, bounds, erasure(player, caller), now), now);
  };
  for (let i = 0; i < 3; i++) assert.is(codeOf(erase(`p${i}`, 0, t0 + i * 1000)), 'ok');
  const fourth = erase('p3', 0, t0 + 3000);
  assert.is(codeOf(fourth), 'erasure_quota_exceeded');
  assert.is(fourth.ok ? 0 : fourth.retryAfterS, 86_397);
  assert.is(codeOf(erase('p4', -2, t0 + 3000)), 'ok');
  assert.is(codeOf(erase('p5', 0, t0 + dayMs)), 'ok');
  assert.is(codeOf(erase('p6', 0, t0 + dayMs)), 'erasure_quota_exceeded');
});

test('an erased subject is unknown at once; an erasure that needs the operator is pending first', () => {
  const given = new Given().peers(1);
  given.event(0, 'a');
  const asked = decideErasure(given.state, { ...bounds, erasureMode: 'operator' }, erasure('a'), t0);
  given.apply(asked.records, t0);
  assert.ok(given.row('a') >= 0);
  assert.is(given.state.erasureRequests.pending, 1);
  const [request] = given.state.erasureRequests.of(subjectOf('a').toString('hex')).pending;
  assert.equal(request, { seq: given.state.lastSeq, peer: 0, reason: 'operator_mode' });
  const done = decideErasure(given.state, { ...bounds, erasureMode: 'operator' }, erasure('a', -2), t0);
  given.apply(done.records, t0);
  assert.is(given.row('a'), -1);
  assert.is(given.state.erasureRequests.pending, 0);
  assert.is(codeOf(decideErasure(given.state, bounds, erasure('a'), t0).outcome), 'subject_not_found');
});

test('each refused request names its peers and its reason until they ask again, and goes with an erasure', () => {
  const given = new Given().peers(2);
  given.event(0, 'a');
  const operator = { ...bounds, erasureMode: 'operator' } as const;
  const request = (peer: number) => {
    given.done(decideErasure(given.state, operator, erasure('a', peer), t0));
  };
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
  given.done(decideErasure(given.state, operator, erasure('a', -2), t0));
  assert.equal(erasureRequests.all(), []);
  // Four requests, two refusals and the event.
  assert.is([...given.state.erasures.values()][0]!.heads.length, 7);
});

// Found by review: after a restore such a request could be settled by nobody.
test('the operator settles a request for a player of whom nothing is known any more', () => {
  const given = new Given().peers(1);
  given.event(0, 'a');
  const operator = { ...bounds, erasureMode: 'operator' } as const;
  given.done(decideErasure(given.state, operator, erasure('a'), t0));
  given.state.subjects.remove(subjectOf('a'));
  assert.is(codeOf(decideErasure(given.state, operator, erasure('a'), t0).outcome), 'subject_not_found');
  const { records, outcome } = decideErasure(given.state, operator, erasure('a', -2), t0);
  assert.is(outcome.ok && outcome.value.events, 0);
  given.apply(records, t0);
  assert.is(given.state.erasureRequests.pending, 0);
  assert.is([...given.state.erasures.values()][0]!.heads.length, 1);
});

test('requests that wait for the operator are held once per player, and all are named to the erasure', () => {
  const given = new Given().peers(1);
  given.event(0, 'a');
  const operator = { ...bounds, erasureMode: 'operator', erasureQuotaPerDay: 1000 } as const;
  for (let i = 0; i < 100; i++) given.done(decideErasure(given.state, operator, erasure('a'), t0));
  assert.is(given.state.erasureRequests.pending, 1);
  given.done(decideErasure(given.state, operator, erasure('a', -2), t0));
  assert.is([...given.state.erasures.values()][0]!.heads.length, 101);
});

test('in mode own a peer a day old erases players it alone reported; other erasures wait for the operator', () => {
  const given = new Given().peers(2);
  given.event(0, 'mine');
  given.event(0, 'shared');
  given.event(1, 'shared');
  const own = { ...bounds, erasureQuotaPerDay: 100, erasureMode: 'own' } as const;
  const outcome = (player: string, caller: number, now: number) => {
    const decided = decideErasure(given.state, own, { ...erasure(player), caller }, now).outcome;
    return decided.ok && (decided.value.pending ? 'pending' : 'erased');
  };
  assert.is(outcome('mine', 0, t0 + dayMs - 1), 'pending');
  assert.is(outcome('mine', 0, t0 + dayMs), 'erased');
  assert.is(outcome('mine', 1, t0 + dayMs), 'pending');
  assert.is(outcome('mine', -1, t0 + dayMs), 'pending');
  assert.is(outcome('shared', 0, t0 + dayMs), 'pending');
  assert.is(outcome('shared', -2, t0), 'erased');
});

test('before the erasure of a player whom others reported, a record counts that its peer asked for one', () => {
  const given = new Given().peers(2);
  for (const [peer, player] of [
    [0, 'mine'],
    [0, 'shared'],
    [1, 'shared'],
  ] as const)
    given.event(peer, player);
  const typesOf = (player: string, caller: number) =>
    decideErasure(given.state, bounds, { ...erasure(player), caller }, t0).records.map(({ type }) => type);
  assert.equal(typesOf('mine', 0).slice(0, -1), []);
  assert.equal(typesOf('shared', 0).slice(0, -1), ['shared_erasure_asked']);
  assert.equal(typesOf('shared', OPERATOR).slice(0, -1), []);
});

test('fresh keys erase no more together than ten quotas of one peer', () => {
  const given = new Given().peers(12);
  for (let peer = 0; peer < 12; peer++) given.event(peer, `of ${peer}`);
  const one = { ...bounds, erasureQuotaPerDay: 1 };
  const codes = Array.from({ length: 12 }, (_, peer) => {
    return codeOf(
      given.done(decideErasure(given.state, one, { ...erasure(`of ${peer}`), caller: peer }, t0 + peer), t0 + peer),
    );
  });
  assert.equal(codes, [...Array(10).fill('ok'), 'erasure_quota_exceeded', 'erasure_quota_exceeded']);
});

test('an event that was erased cannot be withdrawn, even where the log still shows it', () => {
  const given = new Given().peers(1);
  const { value: seq } = given.event(0, 'a') as { value: number };
  given.done(decideErasure(given.state, bounds, erasure('a'), t0));
  given.event(0, 'a');
  assert.is(given.withdraw(0, seq), 'event_not_found');
});

test('a player of whom only one asked erasure is left can be exported, and one that nothing names cannot', () => {
  const given = new Given().peers(1);
  given.event(0, 'a');
  given.done(decideErasure(given.state, { ...bounds, erasureMode: 'operator' }, erasure('a'), t0));
  given.state.subjects.remove(subjectOf('a'));
  const codeFor = (player: string) =>
    codeOf(decideExport(given.state, { subject: subjectOf(player), commitment: 'c', by: 'operator' }, t0).outcome);
  assert.is(codeFor('a'), 'ok');
  assert.is(codeFor('b'), 'subject_not_found');
});

test.run();
