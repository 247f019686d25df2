/** A simulation against the real thing: a state in which the assumption was made true by records. */

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type AsOf, asOfTime } from '../../../src/core/evidence/decay.js';
import { eventTypeName } from '../../../src/core/evidence/event-types.js';
import { trustConstants } from '../../../src/core/evidence/trust-constants.js';
import { subjectHex } from '../../../src/core/hashing/pseudonym.js';
import { decidePreTrust } from '../../../src/core/rules/decide-peer.js';
import { decideErasure, decideWithdrawal } from '../../../src/core/rules/decide-removal.js';
import { decideHalfLife } from '../../../src/core/rules/decide-setting.js';
import { type HalfLives, ScenarioHalfLife } from '../../../src/core/scoring/scenario-half-life.js';
import { trustOf } from '../../../src/core/scoring/score.js';
import { type Scenario, type Simulation, simulate } from '../../../src/core/scoring/simulation.js';
import { stateDigest } from '../../../src/core/snapshot/state-digest.js';
import type { GroupState } from '../../../src/core/state.js';
import { computeGroupTrust } from '../../../src/core/trust/peer-trust.js';
import { Scratch } from '../../../src/core/trust/votes/scratch.js';
import { OPERATOR, verdicts } from '../../../src/core/vocabulary.js';
import { bounds, dayMs, Given, hourMs, subjectOf, t0 } from '../../support/given.js';
import { Random } from '../../support/random.js';
import { weightsRecord } from '../../support/weights.js';

const nothing: Scenario = { preTrusted: null, without: [], halfLives: { claims: null, measures: null } };
const later = t0 + 40 * dayMs;

/** A group of five peers, of which the last two report alike, over 60 players. */
function grown(seed = 7): Given {
  const given = new Given(30).peers(5);
  const random = new Random(seed);
  for (let i = 0; i < 60; i++) {
    for (let peer = 0; peer < 5; peer++) {
      if (random.next() < 0.4) continue;
      const isBad = peer >= 3 ? i % 2 === 0 : i % 5 === 0;
      const eventType = isBad ? 'report_cheating' : 'commendation';
      for (let n = random.below(4); n >= 0; n--) {
        given.event(peer, `player-${i}`, { eventType, timestamp: t0 + i * hourMs }, t0 + i * hourMs);
      }
    }
  }
  return given;
}

/** Takes weights into force, as the replica computes and the actor publishes them. */
function publish({ state }: Given, at: number): void {
  const trust = computeGroupTrust(state, at, trustConstants, new Scratch(), state.relations);
  state.apply(weightsRecord(trust, state.lastSeq, at), state.lastAt);
}

function scoresOf(state: GroupState, at: number): string[] {
  const moment = asOfTime(state, at);
  return Array.from({ length: state.subjects.rows }, (_, row) => {
    const { score, confidence, verdict } = trustOf(state, row, moment);
    return `${score} ${confidence} ${verdict}`;
  });
}

/** Returns the number of players by verdict, from the table of both sides. */
function totals({ verdicts: table }: Simulation, side: 'before' | 'after'): number[] {
  return verdicts.map((one) =>
    verdicts.reduce((sum, other) => sum + (side === 'before' ? table[one][other] : table[other][one]), 0),
  );
}

function verdictsOf(state: GroupState, at: number): number[] {
  const moment = asOfTime(state, at);
  const counts = verdicts.map(() => 0);
  for (let row = 0; row < state.subjects.rows; row++) counts[verdicts.indexOf(trustOf(state, row, moment).verdict)]!++;
  return counts;
}

test('a simulation of the present settings changes no verdict and no weight, nor the state', () => {
  const given = grown();
  publish(given, later);
  const digest = stateDigest(given.state);
  const scores = scoresOf(given.state, later);
  const simulation = simulate(given.state, later, nothing, null, 10);
  assert.equal(simulation.changed, []);
  assert.equal([...simulation.weightsBefore], [...simulation.weightsAfter]);
  assert.equal(totals(simulation, 'before'), verdictsOf(given.state, later));
  simulate(given.state, later, { ...nothing, preTrusted: [0], without: [4] }, null, 10);
  assert.is(stateDigest(given.state), digest);
  assert.equal(scoresOf(given.state, later), scores);
});

test('without a peer the group reads as if the peer were revoked', () => {
  const given = grown();
  const simulation = simulate(given.state, later, { ...nothing, without: [3, 4] }, null, 100);
  for (const peerId of ['peer-3', 'peer-4']) {
    given.setStatus(peerId, 'revoked', later);
  }
  publish(given, later);
  const moment = asOfTime(given.state, later);
  assert.equal(totals(simulation, 'after'), verdictsOf(given.state, later));
  assert.ok(simulation.changed.length > 0);
  for (const { subject, after } of simulation.changed) {
    const row = given.state.subjects.find(Buffer.from(subject, 'hex'));
    assert.equal(after, trustOf(given.state, row, moment));
  }
  assert.equal([...simulation.weightsAfter], [...given.state.peerWeights.published.slice(0, 5)]);
});

test('with other pre-trusted peers the group reads as if they were the set, without excluded peers', () => {
  const given = grown();
  const simulation = simulate(given.state, later, { ...nothing, preTrusted: [3] }, null, 100);
  const both = simulate(given.state, later, { ...nothing, preTrusted: [3], without: [3] }, null, 100);
  const without = simulate(given.state, later, { ...nothing, preTrusted: [], without: [3] }, null, 100);
  assert.equal(both, without);
  const command = { change: 'add', peerId: 'peer-3', by: 'test' } as const;
  given.done(decidePreTrust(given.state, command, later), later);
  publish(given, later);
  assert.ok(simulation.changed.length > 0);
  assert.equal(totals(simulation, 'after'), verdictsOf(given.state, later));
});

test('the players whose scores move furthest are named, no more than asked for', () => {
  const { state } = grown();
  const all = simulate(state, later, { ...nothing, without: [3, 4] }, null, 100).changed;
  const moves = all.map(({ before, after }) => Math.abs(after.score - before.score));
  assert.equal(
    moves,
    moves.toSorted((p, q) => q - p),
  );
  assert.ok(all.length > 3 && all.every(({ before, after }) => before.verdict !== after.verdict));
  assert.equal(simulate(state, later, { ...nothing, without: [3, 4] }, null, 3).changed, all.slice(0, 3));
});

test('players whose scores move equally far are named in the order of their first events', () => {
  const given = grown();
  const changed = () => simulate(given.state, later, { ...nothing, without: [3, 4] }, null, 100).changed;
  const { subject } = changed()[0]!;
  for (const { record, at } of [...given.records]) {
    if (record.type !== 'event_accepted' || subjectHex(record.subject) !== subject) continue;
    const { timestamp } = record;
    given.event(record.peer, 'twin', { eventType: eventTypeName(record.event_type), timestamp }, at);
  }
  const twins = [subject, subjectHex(subjectOf('twin'))];
  assert.equal(
    changed().flatMap((one) => (twins.includes(one.subject) ? [one.subject] : [])),
    twins,
  );
});

/** Claims and measures of every pair that `state` holds, decayed by these factors. */
function sumsOf(
  state: Given['state'],
  subjects: ReturnType<ScenarioHalfLife['subjects']>,
  { decayFactor, measureFactor }: Omit<AsOf, 'at'>,
): Map<string, number[]> {
  const sums = new Map<string, number[]>();
  for (let row = 0; row < state.subjects.rows; row++) {
    if (!state.subjects.has(row)) continue;
    const first = subjects.firstEntry(row);
    for (let entry = first; entry < first + subjects.peerCount(row); entry++) {
      const name = `${Buffer.from(state.subjects.keyOf(row)).toString('hex')} ${subjects.entries.peer(entry)}`;
      const { entries } = subjects;
      if (entries.count(entry) === 0) continue;
      const claims = [entries.lowering(entry), entries.raising(entry)].map((sum) => sum * decayFactor);
      sums.set(name, [...claims, entries.measure(entry) * measureFactor]);
    }
  }
  return sums;
}

/** Walks all records of a life, as the replica walks the log. */
function decayedBy(given: Given, halfLives: HalfLives, at: number): ReturnType<ScenarioHalfLife['subjects']> {
  const other = new ScenarioHalfLife(given.state, halfLives, at);
  for (const [i, { record, at: stamped }] of given.records.entries()) other.apply(record, i + 1, stamped);
  return other.subjects();
}

/** An event that is not so old that a half-life of a day would not count it. */
const drawn = (random: Random, now: number) => ({
  ...{ now, peer: random.below(3), player: `p${random.below(12)}`, timestamp: now - random.below(20) * dayMs },
  eventType: random.pick(['report_cheating', 'ban_applied', 'commendation'] as const),
});

test('under another half-life sums are those of a group that always had it', () => {
  for (const halfLifeDays of [0, 1, 45, 3650]) {
    const random = new Random(halfLifeDays + 1);
    const given = new Given(20).peers(3);
    const always = new Given(halfLifeDays).peers(3);
    const events: (ReturnType<typeof drawn> & { readonly seq: number })[] = [];
    // Long enough for a half-life of a day to move the epoch, after which the half-life itself changes.
    const erasedAt = new Map<string, number>();
    const withdrawn = new Set<number>();
    for (let day = 0; day < 800; day += 4) {
      const now = t0 + day * dayMs;
      if (day === 400) given.done(decideHalfLife(given.state, 'claims', 2, now), now);
      if (day === 500) given.done(decideHalfLife(given.state, 'measures', 4, now), now);
      const event = drawn(random, now);
      const accepted = given.event(event.peer, event.player, event, now);
      assert.ok(accepted.ok);
      if (accepted.ok) events.push({ ...event, seq: accepted.value });
      if (day % 60 === 56) {
        const { seq } = random.pick(
          events.filter((one) => !withdrawn.has(one.seq) && one.seq > (erasedAt.get(one.player) ?? 0)),
        );
        const decided = decideWithdrawal(given.state, given.withdrawal(null, seq), now);
        if (typeof decided !== 'symbol') given.apply(decided.records, now);
        withdrawn.add(seq);
      }
      if (day === 200 || day === 600) {
        const command = { caller: OPERATOR, subject: subjectOf('p3'), commitment: '00', by: 'test' };
        given.done(decideErasure(given.state, bounds, command, now), now);
        erasedAt.set('p3', given.state.lastSeq);
      }
    }
    for (const { seq, peer, player, eventType, timestamp, now } of events) {
      if (withdrawn.has(seq) || seq < (erasedAt.get(player) ?? 0)) continue;
      assert.ok(always.event(peer, player, { eventType, timestamp }, now).ok);
    }
    assert.ok(given.state.rescales.length > 0 && given.state.measureScale.rescales.length > 0);
    const at = t0 + 810 * dayMs;
    const expected = sumsOf(always.state, always.state.subjects, asOfTime(always.state, at));
    const halfLives = { claims: halfLifeDays, measures: 6 * halfLifeDays };
    const got = sumsOf(given.state, decayedBy(given, halfLives, at), { decayFactor: 1, measureFactor: 1 });
    assert.equal([...got.keys()].sort(), [...expected.keys()].sort());
    for (const [name, sums] of expected) {
      for (const i of [0, 1, 2]) {
        assert.ok(
          Math.abs(got.get(name)![i]! - sums[i]!) <= 1e-9 * sums[i]!,
          `${halfLifeDays} ${name}: ${got.get(name)} ${sums}`,
        );
      }
    }
  }
});

test('a half-life that is not assumed leaves the sums of its kind as they are', () => {
  const given = new Given(10).peers(1);
  for (const eventType of ['report_cheating', 'ban_applied', 'commendation'] as const)
    given.event(0, 'p', { eventType });
  const at = t0 + 20 * dayMs;
  const now = sumsOf(given.state, given.state.subjects, asOfTime(given.state, at)).values().next().value!;
  const factors = { decayFactor: 1, measureFactor: 1 };
  const sums = (halfLives: HalfLives) =>
    [...sumsOf(given.state, decayedBy(given, halfLives, at), factors).values()][0]!;
  assert.equal(sums({ claims: null, measures: 20 }), [...now.slice(0, 2), 0.5]);
  assert.equal(sums({ claims: 20, measures: null }), [0.5, 0.5, now[2]]);
});

test('evidence without events in the log keeps its present value under another half-life', () => {
  const given = new Given(10).peers(1);
  const after10 = t0 + 10 * dayMs;
  given.event(0, 'p', { timestamp: t0 }, t0);
  const left = given.state.lastSeq;
  given.done(decideHalfLife(given.state, 'claims', 5, after10), after10);
  given.event(0, 'p', { timestamp: after10 }, after10);
  const at = t0 + 20 * dayMs;
  const other = new ScenarioHalfLife(given.state, { claims: 20, measures: null }, at);
  for (const [i, { record, at: stamped }] of given.records.entries())
    if (i + 1 !== left) other.apply(record, i + 1, stamped);
  const subjects = other.subjects();
  const sum = subjects.entries.lowering(subjects.firstEntry(given.row('p')));
  // The first event is worth 2^-1 when the half-life changes and 2^-3 now; the second 2^-2 now, under the other
  // half-life 2^-0.5.
  assert.ok(Math.abs(sum - (0.125 + Math.SQRT1_2)) < 1e-12, String(sum));
});

test.run();
