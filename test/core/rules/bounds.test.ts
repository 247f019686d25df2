/** Tests the bounds of the operators' rules, what a repeated command writes, and what a refusal names. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Decision } from '../../../src/core/decision.js';
import { decideAllowed, decideDisallowed } from '../../../src/core/rules/decide-allowed.js';
import { decideDisputeOpened } from '../../../src/core/rules/decide-dispute.js';
import { decideOrigin } from '../../../src/core/rules/decide-origin.js';
import { decideConfiguredPreTrust, decidePeerChange, decideRelation } from '../../../src/core/rules/decide-peer.js';
import { decideErasure, decideExport } from '../../../src/core/rules/decide-removal.js';
import { decideScoring } from '../../../src/core/rules/decide-setting.js';
import { quotaWaitsMs } from '../../../src/core/rules/quota.js';
import { NO_KEY, OPERATOR } from '../../../src/core/vocabulary.js';
import { limits } from '../../../src/limits.js';
import { withBounds } from '../../sim/profile.js';
import { bounds, dayMs, Given, hourMs, subjectOf, t0 } from '../../support/given.js';

/** Applies a decision. Returns its code, and the number of records that it wrote. */
function done(given: Given, { records, outcome }: Decision<unknown>, now = t0): string {
  given.apply(records, now);
  return outcome.ok ? `ok, ${records.length}` : outcome.code;
}

test('a player is allowed until the end of a minute that has not passed, at most so far ahead', async () => {
  const given = new Given();
  let entries = 0;
  const allow = (player: string, until: number) => {
    const entry = { id: `entry-${entries++}`, until, note: 'n', by: 'op' };
    return decideAllowed(given.state, { subject: subjectOf(player), ...entry }, t0);
  };
  const disallow = (player: string) => decideDisallowed(given.state, { subject: subjectOf(player), by: 'op' }, t0);
  const code = (decision: Decision<unknown>) => done(given, decision);
  const latest = t0 + limits.allowedMsMax;
  const tried = [t0 - 1, latest + 1, Number.NaN].map((until) => code(allow('p', until)));
  assert.equal(tried, Array(3).fill('invalid_parameter'));
  const late = allow('p', latest + 1).outcome;
  assert.match(late.ok ? '' : late.text!, 'in the future, at most 3650 days ahead');
  assert.is(code(disallow('p')), 'subject_not_found');
  const { outcome } = allow('p', t0 + 1);
  assert.is(outcome.ok && outcome.value, Date.parse('2026-01-01T00:01:00Z'));
  await withBounds({ allowedSubjectsMax: 1, allowedRecordsMax: 3 }, async () => {
    assert.equal([code(allow('p', t0 + 1)), code(allow('q', t0 + 1))], ['ok, 1', 'overloaded'], 'the list is full');
    assert.equal([code(allow('p', latest - 60_000)), code(disallow('p'))], ['ok, 1', 'ok, 1']);
    assert.equal([code(disallow('p')), code(allow('p', t0 + 1))], ['subject_not_found', 'overloaded'], 'too often');
  });
  const audits = given.records.map(({ record }) => ('audit' in record ? JSON.stringify(record.audit) : ''));
  assert.not(audits.some((audit) => audit.includes(subjectOf('p').toString('hex'))));
});

test('an entry of the allow list that ended takes no place, until the group has named too many players', async () => {
  const given = new Given();
  const allow = (player: string, now: number) => {
    const entry = { id: player, until: now + 1, note: 'n', by: 'op' };
    return done(given, decideAllowed(given.state, { subject: subjectOf(player), ...entry }, now), now);
  };
  await withBounds({ allowedSubjectsMax: 1, allowedNamedMax: 3 }, async () => {
    assert.equal([allow('p', t0), allow('q', t0)], ['ok, 1', 'overloaded'], 'the list is full');
    const later = t0 + hourMs;
    assert.equal([allow('q', later), allow('p', later)], ['ok, 1', 'overloaded'], 'a known player needs a place, too');
    done(given, decideDisallowed(given.state, { subject: subjectOf('q'), by: 'op' }, later), later);
    assert.equal([allow('r', later), allow('s', later + hourMs)], ['ok, 1', 'overloaded'], 'too many are named');
    given.state.allowed.erase(subjectOf('p').toString('hex'));
    assert.is(allow('s', later + hourMs), 'ok, 1');
  });
});

test('an erasure quota above the number of stored times counts as that number', async () => {
  const given = new Given().peers(1, t0 - 9 * dayMs);
  const { erasureTimesMax } = limits;
  await withBounds({ erasureTimesMax: 2 }, async () => {
    const codes = ['a', 'b', 'c', 'd'].map((player) => {
      given.event(0, player);
      const command = { caller: 0, subject: subjectOf(player), commitment: 'c', by: 'peer-0' };
      return done(
        given,
        decideErasure(given.state, { ...bounds, erasureQuotaPerDay: erasureTimesMax + 1 }, command, t0),
      );
    });
    assert.equal(codes, ['ok, 1', 'ok, 1', 'erasure_quota_exceeded', 'erasure_quota_exceeded']);
  });
});

test('a caller waits for room in its own and the group quota, and new peers count only for one another', () => {
  const given = new Given().peers(2, t0 - 9 * dayMs).peers(2, t0 - hourMs);
  const now = t0 + dayMs;
  const hoursAgo = (...hours: number[]) => hours.map((count) => now - count * hourMs);
  type Times = Readonly<Record<number, readonly number[]>>;
  /** The hours that a caller waits by its own quota and by that of the group. */
  const waits = (times: Times, caller: number, more: { readonly isShared?: true } = {}) => {
    const asked = new Map(Object.entries(times).map(([peer, ats]) => [Number(peer), ats]));
    const quota = { quota: 2, groupFactor: 2, ...more };
    const { own, group } = quotaWaitsMs(given.state, asked, caller, quota, now);
    return `${own / hourMs} ${group / hourMs}`;
  };
  assert.is(waits({}, 0), '0 0');
  assert.is(waits({ 0: hoursAgo(25, 24, 3) }, 0), '0 0', 'older times are over');
  assert.is(waits({ 0: hoursAgo(5, 4, 3) }, 0), '20 0');
  assert.is(waits({ 0: [...hoursAgo(5), now + 1] }, 0), '0 0', 'a time ahead is from before the clock was set back');
  const others = { 1: hoursAgo(9, 8, 7, 6) };
  assert.is(waits(others, 0), '0 15');
  assert.is(waits(others, 0, { isShared: true }), '0 0');
  assert.is(waits({ ...others, 0: hoursAgo(2) }, 0, { isShared: true }), '0 0');
  assert.is(waits({ ...others, 0: hoursAgo(2, 1) }, 0, { isShared: true }), '22 17', 'its share is used up');
  // A peer was new a day after its registration, to the millisecond.
  const fresh = { 2: [t0 + 1, t0 + 2, t0 + 3, t0 + 23 * hourMs - 1] };
  assert.is(waits(fresh, 0), '0 0');
  assert.is(waits(fresh, NO_KEY), `0 ${1 / hourMs}`);
  assert.is(waits({ 2: Array<number>(4).fill(t0 + 23 * hourMs) }, 0), '0 23');
  assert.is(waits({ [NO_KEY]: hoursAgo(4, 3, 2, 1) }, 0), '0 0');
});

test('an origin has its number for ever, a repeated change writes nothing, and removed origins count', async () => {
  const given = new Given().peers(1);
  const change = (asked: 'add' | 'remove', name: string) =>
    done(given, decideOrigin(given.state, { change: asked, name, by: 'op' }, t0));
  assert.is(change('remove', 'a'), 'unknown_origin');
  assert.equal([change('add', 'a'), change('add', 'a')], ['ok, 1', 'ok, 0']);
  const { index } = given.state.origins.named('a')!;
  assert.equal([change('remove', 'a'), change('remove', 'a')], ['ok, 1', 'ok, 0']);
  await withBounds({ originsMax: 1 }, async () => assert.is(change('add', 'b'), 'overloaded'));
  await withBounds({ peersMaxCeiling: given.state.numbers }, async () => {
    assert.equal([change('add', 'b'), change('add', 'a')], ['overloaded', 'ok, 1']);
    assert.is(given.state.origins.named('a')!.index, index);
    const carried = given.event(0, 'p', { origin: 'a' });
    assert.is(carried.ok ? '' : carried.code, 'overloaded');
  });
  await withBounds({ carriersMax: 1 }, async () => {
    assert.ok(given.event(0, 'p', { origin: 'a' }).ok);
    assert.ok(given.event(0, 'q', { origin: 'a' }).ok, 'the peer carries it already');
    const { index: other, peerId } = given.peers(1).state.peers.list[1]!;
    assert.not(given.event(other, 'p', { origin: 'a', peerId }).ok);
  });
});

test('two peers are related in either order, and only a new relation is recorded', () => {
  const given = new Given().peers(3);
  const relate = (relation: 'same' | 'independent', peerId: string, otherId: string) =>
    decideRelation(given.state, { relation, peerId, otherId, by: 'op' }, t0);
  for (const { outcome } of [relate('same', 'x', 'peer-0'), relate('same', 'peer-0', 'x')])
    assert.equal(!outcome.ok && [outcome.code, outcome.text], ['unknown_peer', 'no peer has the id x']);
  assert.is(done(given, relate('same', 'peer-1', 'peer-1')), 'peer_id_mismatch');
  assert.is(done(given, relate('same', 'peer-2', 'peer-0')), 'ok, 1');
  assert.is(done(given, relate('same', 'peer-0', 'peer-2')), 'ok, 0');
  assert.is(done(given, relate('same', 'peer-0', 'peer-1')), 'ok, 1');
  assert.is(done(given, relate('independent', 'peer-0', 'peer-2')), 'ok, 1');
  const expected = [
    { first: 0, second: 1, relation: 'same' },
    { first: 0, second: 2, relation: 'independent' },
  ];
  assert.equal(given.state.relations, expected);
  const { record } = given.records.at(-1)!;
  assert.is('audit' in record && record.audit.target, 'peer-0 peer-2');
});

test('pre-trusted peers of the configuration are set once; all unknown ones are named, else all revoked ones', () => {
  const given = new Given().peers(4);
  const set = (configured: string, by = 'configuration') =>
    done(given, decideConfiguredPreTrust(given.state, configured, t0, by));
  const refusal = (configured: string) => {
    const { outcome, records } = decideConfiguredPreTrust(given.state, configured, t0, 'configuration');
    return [outcome.ok ? 'ok' : `${outcome.code}: ${outcome.text}`, records.length];
  };
  for (const peerId of ['peer-2', 'peer-3']) {
    done(given, decidePeerChange(given.state, { type: 'peer_status', peerId, status: 'revoked', by: 't' }, t0));
  }
  assert.equal(refusal(''), ['unknown_peer: no peer of this group has the id ', 0]);
  assert.equal(refusal('peer-2,x,peer-0,y'), ['unknown_peer: no peer of this group has the id x or y', 0]);
  const revoked = 'peer_not_active: revoked, which is final: peer-2, peer-3';
  assert.equal(refusal('peer-2,peer-0,peer-3'), [revoked, 0]);
  assert.equal(given.state.preTrusted, []);
  assert.equal([set('peer-0,peer-1'), set('peer-0,peer-1'), set('peer-0,peer-1', 'op')], ['ok, 1', 'ok, 0', 'ok, 0']);
  given.state.preTrusted = [0];
  assert.equal([set('peer-0,peer-1'), set('peer-0,peer-1', 'op')], ['ok, 0', 'ok, 1']);
  assert.equal(given.state.preTrusted, [0, 1]);
});

test('an erasure names the exhausted quota, and waits for the operator only while requests have room', async () => {
  const given = new Given().peers(4, t0 - 9 * dayMs);
  for (const player of ['a', 'b']) given.event(0, player);
  const asked = { ...bounds, erasureQuotaPerDay: 2, erasureMode: 'operator' } as const;
  const ask = (caller: number, player: string, now = t0) =>
    decideErasure(given.state, asked, { caller, subject: subjectOf(player), commitment: 'c', by: 't' }, now);
  await withBounds({ pendingErasuresMax: 1, groupErasuresFactor: 2 }, async () => {
    assert.equal([done(given, ask(0, 'a')), done(given, ask(0, 'b'))], ['ok, 1', 'overloaded']);
    assert.is(done(given, ask(0, 'a')), 'ok, 1', 'it waits already');
    const detailsOf = (caller: number) => {
      const { outcome } = ask(caller, 'a', t0 + hourMs);
      return outcome.ok ? null : [outcome.code, outcome.retryAfterS, outcome.details];
    };
    const code = 'erasure_quota_exceeded';
    assert.equal(detailsOf(0), [code, 23 * 3_600, { quota: 'peer', per_day: 2 }]);
    for (const caller of [1, 2]) assert.is(done(given, ask(caller, 'a')), 'ok, 2');
    assert.equal(detailsOf(3), [code, 23 * 3_600, { quota: 'group', per_day: 4 }]);
  });
  assert.equal(
    [1, 2].map((peer) => given.state.sharedErasures.get(peer)),
    [1, 1],
  );
  assert.is(done(given, ask(OPERATOR, 'b')), 'ok, 1');
});

test('a player is exported if an event, dispute, allowance or request names the player, else refused', async () => {
  const given = new Given().peers(1);
  const exported = (player: string) =>
    done(given, decideExport(given.state, { subject: subjectOf(player), commitment: 'c', by: 'op' }, t0));
  assert.is(exported('a'), 'subject_not_found');
  given.event(0, 'a');
  assert.is(exported('a'), 'ok, 1');
  const subject = subjectOf('b');
  done(given, decideAllowed(given.state, { subject, id: 'i', until: t0 + hourMs, note: '', by: 'op' }, t0));
  assert.is(exported('b'), 'ok, 1');
  given.event(0, 'c');
  const dispute = { disputeId: 'd', caller: 0, subject: subjectOf('c'), text: '', by: 't' };
  await withBounds({ disputesOpenMax: 0 }, async () =>
    assert.is(done(given, decideDisputeOpened(given.state, dispute, t0)), 'overloaded'),
  );
  assert.is(done(given, decideDisputeOpened(given.state, dispute, t0)), 'ok, 1');
  given.state.subjects.remove(subjectOf('c'));
  assert.is(exported('c'), 'ok, 1');
  given.event(0, 'e');
  const request = { caller: 0, subject: subjectOf('e'), commitment: 'c', by: 't' };
  done(given, decideErasure(given.state, { ...bounds, erasureMode: 'operator' }, request, t0));
  given.state.subjects.remove(subjectOf('e'));
  assert.is(exported('e'), 'ok, 1');
});

test('a ban that was too old to count is withdrawn without a change, also from before bans were measures', () => {
  for (const isUpgraded of [false, true]) {
    const given = new Given(30, isUpgraded ? 2 : 3).peers(1);
    const sent = given.event(0, 'a', { eventType: 'ban_applied', timestamp: t0 - 4_000 * dayMs });
    given.event(0, 'a', { eventType: 'ban_applied', severity: 0.5 });
    if (isUpgraded) done(given, decideScoring(given.state, t0));
    assert.is(given.sums('a').measure, 0.5);
    assert.is(given.withdraw(0, sent.ok ? sent.value : 0), 'ok');
    assert.equal([given.sums('a').measure, given.sums('a').count], [0.5, 1]);
  }
});

test.run();
