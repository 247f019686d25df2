/**
 * A wave of fresh peers in a group that has been there for a while moves next to nothing; they come to count as they
 * grow old.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { asOfTime } from '../../../src/core/evidence/decay.js';
import { type TrustConstants, trustConstants } from '../../../src/core/evidence/trust-constants.js';
import { trustOf } from '../../../src/core/scoring/score.js';
import { dayMs, Given, hourMs, t0 } from '../../support/given.js';
import { Random } from '../../support/random.js';

const players = 160;

function register(given: Given, count: number, at: number): number[] {
  const first = given.state.numbers;
  given.peers(count, at);
  return Array.from({ length: count }, (_, i) => first + i);
}

/** Eight honest peers of `t0` that report 160 players, every tenth of them bad. */
function honestGroup(): Given {
  const given = new Given();
  const random = new Random(5);
  for (const peer of register(given, 8, t0)) {
    for (let i = 0; i < players; i++) {
      if (random.below(2) === 0) continue;
      const isRight = random.below(100) < 92;
      given.event(peer, `p${i}`, { eventType: (i % 10 === 0) === isRight ? 'ban_applied' : 'commendation' });
    }
  }
  return given;
}

/** Publishes what is computed at a moment; returns the scores of all players. */
function computed(given: Given, at: number, constants: TrustConstants = trustConstants): number[] {
  const { state } = given;
  given.compute(at, constants);
  return Array.from({ length: players }, (_, i) => trustOf(state, given.row(`p${i}`), asOfTime(state, at)).score);
}

/** 33 peers that praise the bad players and lower twenty good ones, once each; each judges some others as they are. */
function attack(given: Given, at: number): void {
  const random = new Random(6);
  for (const peer of register(given, 33, at)) {
    for (let i = 0; i < players; i += 10)
      if (random.below(2) === 0) given.event(peer, `p${i}`, { eventType: 'commendation' }, at);
    for (let i = 1; i <= 20; i++) if (i % 10 > 0 && random.below(3) > 0) given.event(peer, `p${i}`, {}, at);
  }
}

const mostMoved = (before: readonly number[], after: readonly number[]) =>
  Math.max(...before.map((score, i) => Math.abs(score - after[i]!)));

test('33 fresh peers move no player by more than ten points', () => {
  const given = honestGroup();
  const at = t0 + 30 * dayMs;
  const before = computed(given, at);
  attack(given, at);
  const after = computed(given, at + hourMs / 60);
  assert.ok(mostMoved(before, after) <= 10, `${mostMoved(before, after)}`);
  // Without that rule they would.
  const unruled = computed(given, at + hourMs / 60, { ...trustConstants, newPeerDays: 0 });
  assert.ok(mostMoved(before, unruled) > 10, `${mostMoved(before, unruled)}`);
});

test('a newcomer counts more from hour to hour, and in full after a day', () => {
  const given = honestGroup();
  const joined = t0 + 30 * dayMs;
  const [late] = register(given, 1, joined);
  for (let i = 0; i < 80; i++)
    given.event(late!, `p${i}`, { eventType: i % 10 === 0 ? 'ban_applied' : 'commendation' }, joined);
  const gates = [0, 6, 12, 24, 48].map((hours) => {
    computed(given, joined + hours * hourMs);
    return given.state.weights.tau[late!]!;
  });
  assert.is(gates[0], 0);
  assert.ok(Math.abs(gates[1]! - 0.25) < 0.01 && Math.abs(gates[2]! - 0.5) < 0.01, `${gates}`);
  assert.equal(gates.slice(3), [1, 1]);
});

test('a group under an hour has no newcomers, and one under a day uses its own age', () => {
  const given = honestGroup();
  const [late] = register(given, 1, t0 + hourMs / 2);
  const seniority = (at: number) => given.state.peers.seniority(at, dayMs)[late!]!;
  assert.is(seniority(t0 + hourMs / 2 + 1), 1);
  assert.is(seniority(t0 + hourMs), 0.5);
  assert.is(seniority(t0 + 10 * hourMs), 0.95);
  assert.is(seniority(t0 + 30 * dayMs), 1);
  register(given, 1, t0 + 2 * hourMs);
  assert.equal(new Set(given.state.peers.seniority(t0 + 2 * hourMs, 0)), new Set([1]), 'without newcomers at all');
});

test('peers that never reported, or were revoked, make no group old', () => {
  const given = new Given();
  register(given, 5, t0);
  const late = t0 + 30 * dayMs;
  const [one, two, three, four] = register(given, 4, late);
  for (const peer of [one!, two!, three!, four!]) given.event(peer, 'a', {}, late);
  assert.equal(new Set(given.state.peers.seniority(late + 1, dayMs)), new Set([1]));
});

test('33 fresh peers that contradict a group of minutes move no player by more than ten points', () => {
  const given = honestGroup();
  const before = computed(given, t0 + 4_000);
  attack(given, t0 + 5_000);
  for (const at of [t0 + 6_000, t0 + (10 * hourMs) / 60, t0 + 2 * hourMs, t0 + 20 * hourMs]) {
    const after = computed(given, at);
    assert.ok(mostMoved(before, after) <= 10, `${mostMoved(before, after)} at ${at - t0}`);
  }
});

test('fresh peers that join one by one and contradict the group count for nothing, one like the other', () => {
  const given = honestGroup();
  const before = computed(given, t0 + 4_000);
  for (let wave = 0; wave < 12; wave++) {
    const [peer] = register(given, 1, t0 + 10_000 * (wave + 1));
    for (let i = 0; i < 40; i++) {
      if ((i + wave) % 3 === 0) continue;
      given.event(peer!, `p${i}`, { eventType: i % 10 === 0 ? 'commendation' : 'ban_applied' }, t0 + 200_000);
    }
  }
  const after = computed(given, t0 + 201_000);
  assert.ok(mostMoved(before, after) <= 10, `${mostMoved(before, after)}`);
  assert.equal([...given.state.weights.tau.slice(8)], new Array(12).fill(0));
});

test('a new peer that does not contradict earlier peers counts in a group that is minutes old', () => {
  const given = honestGroup();
  const [agreeing, apart, ...others] = register(given, 4, t0 + 10_000);
  for (let i = 0; i < 80; i++)
    given.event(agreeing!, `p${i}`, { eventType: i % 10 === 0 ? 'ban_applied' : 'commendation' }, t0 + 10_000);
  for (const peer of [apart!, ...others]) given.event(peer, 'unknown', {}, t0 + 10_000);
  computed(given, t0 + 11_000);
  assert.is(given.state.weights.tau[agreeing!], 1);
  assert.ok(given.state.weights.tau[apart!]! > 0.5);
});

test('peers that join together are judged together: the first ones do not outvote the others', () => {
  const given = new Given();
  const random = new Random(7);
  const peers = register(given, 9, t0);
  for (const peer of peers) {
    for (let i = 0; i < players; i++) {
      if (random.below(2) === 0) continue;
      // The first three lie about every player.
      const isRight = peer >= 3 && random.below(100) < 92;
      given.event(peer, `p${i}`, { eventType: (i % 10 === 0) === isRight ? 'ban_applied' : 'commendation' });
    }
  }
  computed(given, t0 + hourMs / 60);
  const { tau } = given.state.weights;
  assert.ok(
    [...tau.slice(0, 3)].every((gate) => gate < 0.2) && [...tau.slice(3)].every((gate) => gate > 0.9),
    `${tau}`,
  );
});

test('a pre-trusted peer counts in full from its first day', () => {
  const given = honestGroup();
  const joined = t0 + 30 * dayMs;
  const [late] = register(given, 1, joined);
  given.event(late!, 'p1', { eventType: 'commendation' }, joined);
  given.apply([{ type: 'pre_trust_set', peers: [late!], configured: null, audit: given.state.formed.audit }], joined);
  computed(given, joined + 1);
  assert.is(given.state.weights.tau[late!], 1);
});

test.run();
