import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decidePeerStatus } from '../../src/core/decide-peer.js';
import { decideErasure } from '../../src/core/decide-removal.js';
import { decideHalfLife } from '../../src/core/decide-scale.js';
import { explanationOf, momentOf, trustOf, verdictOf } from '../../src/core/score.js';
import { bounds, dayMs, Given, subjectOf, t0 } from '../support/given.js';

function scoreAt(given: Given, player: string, at = t0) {
  return trustOf(given.state, given.row(player), momentOf(given.state, at));
}

function near(actual: number, expected: number, tolerance = 1e-9): void {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`);
}

// Figures of design/scoring.md, "Verdict": 5 points for one event, 39.7 for 1,000 of one peer, 25 for two peers with ten
// each, 4 for five peers with three each.
test('one event of severity 1 moves an unknown player by five points', () => {
  const given = new Given().peers(1);
  given.event(0, 'a');
  const { score, confidence, verdict, eventCount } = scoreAt(given, 'a');
  // n = 1, C = .7 / 4.9, score = 100 sigmoid(-1.4 / 7)
  near(score, 100 / (1 + Math.exp(1.4 / 7)));
  near(confidence, 1 / 7);
  assert.is(verdict, 'neutral');
  assert.is(eventCount, 1);
});

test('a thousand events of one peer leave the player suspicious at 39.7, never untrusted', () => {
  const given = new Given().peers(1);
  for (let i = 0; i < 1000; i++) given.event(0, 'a');
  const { score, verdict } = scoreAt(given, 'a');
  near(score, 39.7, 0.05);
  assert.is(verdict, 'suspicious');
});

test('two peers with ten events each bring a player to 25, five peers with three each to 4', () => {
  const given = new Given().peers(5);
  for (let i = 0; i < 10; i++) for (const peer of [0, 1]) given.event(peer, 'two');
  for (let i = 0; i < 3; i++) for (let peer = 0; peer < 5; peer++) given.event(peer, 'five');
  near(scoreAt(given, 'two').score, 25, 0.5);
  near(scoreAt(given, 'five').score, 4, 0.5);
  assert.is(scoreAt(given, 'five').verdict, 'untrusted');
});

test('five honest peers outweigh one flood of a thousand events', () => {
  const given = new Given().peers(6);
  for (let i = 0; i < 1000; i++) given.event(5, 'a');
  for (let peer = 0; peer < 5; peer++) given.event(peer, 'a', { eventType: 'commendation' });
  assert.ok(scoreAt(given, 'a').score > 50);
});

test('an event of severity 0 is counted and carries no evidence', () => {
  const given = new Given().peers(1);
  given.event(0, 'a', { severity: 0 });
  const { score, confidence, verdict, eventCount } = scoreAt(given, 'a');
  assert.equal(
    { score, confidence, verdict, eventCount },
    { score: 50, confidence: 0, verdict: 'neutral', eventCount: 1 },
  );
});

test('evidence is worth half after one half-life', () => {
  const given = new Given(30).peers(1);
  given.event(0, 'a', { severity: 1 });
  given.event(0, 'b', { severity: 0.5 });
  near(scoreAt(given, 'a', t0 + 30 * dayMs).score, scoreAt(given, 'b', t0).score);
});

test('decay runs from the earlier of timestamp and arrival', () => {
  const given = new Given(30).peers(1);
  given.event(0, 'late', { timestamp: t0 - 30 * dayMs });
  given.event(0, 'ahead', { timestamp: t0 + dayMs });
  given.event(0, 'half', { severity: 0.5 });
  given.event(0, 'whole');
  near(scoreAt(given, 'late').score, scoreAt(given, 'half').score);
  near(scoreAt(given, 'ahead').score, scoreAt(given, 'whole').score);
});

test('a clock that was set back inflates no evidence', () => {
  const given = new Given(30).peers(1);
  given.event(0, 'a', { timestamp: t0 + 400 * dayMs }, t0 + 400 * dayMs);
  near(scoreAt(given, 'a', t0).score, scoreAt(given, 'a', t0 + 400 * dayMs).score);
});

test('evidence stays finite over fifty years of half-lives of one day', () => {
  const given = new Given(1).peers(1);
  for (let year = 0; year < 50; year++) {
    const at = t0 + year * 365 * dayMs;
    given.event(0, 'a', { timestamp: at }, at);
  }
  const at = t0 + 49 * 365 * dayMs;
  near(scoreAt(given, 'a', at).confidence, 1 / 7);
});

// Found by review: a clock that jumped ahead and back made sums infinite or scores NaN.
test('a clock that jumps twenty years ahead and back leaves every score finite and the truth of now in force', () => {
  for (const halfLife of [0, 1, 7, 30]) {
    const given = new Given(halfLife).peers(2);
    const jumped = t0 + 7305 * dayMs;
    given.event(0, 'a');
    given.event(0, 'b', { timestamp: t0 }, jumped);
    given.event(0, 'c', { timestamp: jumped }, jumped);
    given.apply(decideHalfLife(given.state, 14, t0 + dayMs).records, t0 + dayMs);
    for (let i = 0; i < 20; i++) given.event(1, 'd', { timestamp: t0 + dayMs }, t0 + dayMs);
    for (const player of ['a', 'b', 'c', 'd']) {
      const { score, confidence } = scoreAt(given, player, t0 + dayMs);
      assert.ok(Number.isFinite(score) && Number.isFinite(confidence), `${player} at half-life ${halfLife}`);
    }
    if (halfLife === 30) assert.ok(scoreAt(given, 'd', t0 + dayMs).score < 45);
  }
});

// Found by the simulation: seed 500000929.
test('a half-life that changes again and again while the clock is twenty years behind leaves every score finite, then and later', () => {
  const behind = t0 - 7305 * dayMs;
  const given = new Given(30).peers(1);
  const halfLife = (days: number, now: number) => given.apply(decideHalfLife(given.state, days, now).records, now);
  const mustBeFinite = (at: number) => {
    const { score, confidence } = scoreAt(given, 'a', at);
    assert.ok(Number.isFinite(score) && Number.isFinite(confidence), `${score}, ${confidence}`);
    const { lowering, raising } = explanationOf(given.state, given.row('a'), momentOf(given.state, at));
    assert.ok(Number.isFinite(lowering) && Number.isFinite(raising), `${lowering}, ${raising}`);
  };
  given.event(0, 'b', { severity: 0 });
  given.event(0, 'a', { timestamp: behind }, behind);
  halfLife(7, behind);
  const erasure = { caller: 0, subject: subjectOf('b'), commitment: '0', by: 'peer-0' };
  given.apply(decideErasure(given.state, bounds, erasure, behind).records, behind);
  for (let i = 0; i < 3; i++) {
    halfLife(0, behind);
    halfLife(7, t0);
    mustBeFinite(behind);
  }
  for (const years of [0, 1, 10]) mustBeFinite(t0 + years * 365 * dayMs);
});

test('an event that arrives while the clock is ahead keeps its true time, and later ones count beside it', () => {
  const given = new Given(30).peers(2);
  given.event(0, 'a', { timestamp: t0 }, t0 + 7305 * dayMs);
  for (let i = 0; i < 40; i++) given.event(1, 'a');
  assert.ok(scoreAt(given, 'a').score < 45);
});

test('the evidence of a revoked peer counts for nothing, that of a suspended one stays', () => {
  const given = new Given().peers(2);
  given.event(0, 'a');
  const change = (status: 'suspended' | 'revoked') =>
    given.apply(decidePeerStatus(given.state, { peerId: 'peer-0', status, by: 'test' }, t0).records, t0);
  const before = scoreAt(given, 'a').score;
  change('suspended');
  assert.is(scoreAt(given, 'a').score, before);
  change('revoked');
  assert.is(scoreAt(given, 'a').score, 50);
  assert.is(scoreAt(given, 'a').confidence, 0);
});

test('one peer alone never makes a player untrusted', () => {
  assert.is(verdictOf(1, 1, 1), 'suspicious');
  assert.is(verdictOf(19.99, 0, 2), 'untrusted');
  assert.is(verdictOf(20, 0, 2), 'suspicious');
  assert.is(verdictOf(39.99, 0, 2), 'suspicious');
  assert.is(verdictOf(40, 1, 2), 'neutral');
  assert.is(verdictOf(70, 0.34, 2), 'neutral');
  assert.is(verdictOf(70, 0.35, 2), 'trusted');
});

test('published weights enter the read: a peer with tau 0 moves nothing', () => {
  const given = new Given().peers(2);
  given.event(0, 'a');
  given.event(1, 'a', { eventType: 'commendation' });
  assert.is(scoreAt(given, 'a').score, 50);
  const weights = { tau: [1, 0], a: [2, 2], b: [2, 2] };
  given.apply(
    [
      {
        type: 'weights_published',
        based_on_seq: given.state.lastSeq,
        computed_at: t0,
        pi: 0.2,
        tau: Float64Array.from(weights.tau),
        a: Float64Array.from(weights.a),
        b: Float64Array.from(weights.b),
      },
    ],
    t0,
  );
  // Only peer 0 is left: w = 1, C = 1 / 5.2, ell = 2.
  near(scoreAt(given, 'a').score, 100 / (1 + Math.exp(2 / 5.2)));
});

test('the others move a player at most half as far again as its pre-trusted peers do', () => {
  const given = new Given().peers(5);
  given.event(0, 'a');
  given.apply([{ type: 'pre_trust_set', peers: [0], configured: null, audit: given.state.formed.audit }], t0);
  for (let peer = 1; peer < 5; peer++) given.event(peer, 'a', { eventType: 'commendation' });
  const all = (value: number) => new Float64Array(5).fill(value);
  const weights = {
    based_on_seq: given.state.lastSeq,
    computed_at: t0,
    pi: 0.2,
    tau: all(1),
    a: all(1.4),
    b: all(1.4),
  };
  given.apply([{ type: 'weights_published', ...weights }], t0);
  // LP = 1.4, LN = -5.6 clipped to -2.1; M = 5, E = 3.5
  const ell = (1.4 - 2.1) / 5 ** 0.25;
  near(scoreAt(given, 'a').score, 100 / (1 + Math.exp((3.5 / 7.7) * ell)));
});

test('where a group has pre-trusted peers, a newcomer moves nothing before its weight is computed', () => {
  const given = new Given().peers(2);
  given.apply([{ type: 'pre_trust_set', peers: [0], configured: null, audit: given.state.formed.audit }], t0);
  given.event(1, 'a');
  assert.is(scoreAt(given, 'a').score, 50);
  given.event(0, 'a');
  near(scoreAt(given, 'a').score, 100 / (1 + Math.exp(1.4 / 7)));
});

test('an explanation names sides, peers and the weights it rests on', () => {
  const given = new Given().peers(3);
  given.event(0, 'a');
  given.event(1, 'a', { eventType: 'report_spam', severity: 0.5 });
  given.event(2, 'a', { eventType: 'commendation' });
  assert.equal(explanationOf(given.state, given.row('a'), momentOf(given.state, t0)), {
    lowering: 1.125,
    raising: 1,
    peers: 3,
    preTrusted: false,
    halfLifeDays: 0,
    weightsBasedOnSeq: 0,
  });
});

test.run();
