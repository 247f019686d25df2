/** The half-lives that are in force, assumed in a scenario: nothing may change, whatever the scales went through. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { asOfTime } from '../../../src/core/evidence/decay.js';
import { decideDispute, decideDisputeOpened } from '../../../src/core/rules/decide-dispute.js';
import { decideScoring } from '../../../src/core/rules/decide-setting.js';
import { ScenarioHalfLife } from '../../../src/core/scoring/scenario-half-life.js';
import { simulate } from '../../../src/core/scoring/simulation.js';
import { dayMs, Given, hourMs, subjectOf, t0 } from '../../support/given.js';
import { Random } from '../../support/random.js';

/** The half-lives that are in force, and what they make of the group's records. */
function present({ state, records }: Given, at: number) {
  const halfLives = { claims: state.halfLifeDays, measures: state.measureScale.halfLifeDays };
  const decayed = new ScenarioHalfLife(state, halfLives, at);
  for (const [i, { record, at: stamped }] of records.entries()) decayed.apply(record, i + 1, stamped);
  return { halfLives, decayed };
}

/** The sums of all pairs must be those of the state, but for values so small that they are as good as 0. */
function assertSums(given: Given, at: number): void {
  const { subjects } = given.state;
  const { decayFactor, measureFactor } = asOfTime(given.state, at);
  const { entries } = present(given, at).decayed.subjects();
  for (const row of subjects.held()) {
    for (const entry of subjects.entriesOf(row)) {
      near(entries.lowering(entry), subjects.entries.lowering(entry) * decayFactor, `claims of ${row}`);
      near(entries.measure(entry), subjects.entries.measure(entry) * measureFactor, `measures of ${row}`);
    }
  }
}

function near(actual: number, expected: number, what: string): void {
  assert.ok(
    Math.abs(actual - expected) <= 1e-9 * Math.abs(expected) + 1e-200,
    `${what}: ${actual}, expected ${expected}`,
  );
}

test('sums stay through moves of both epochs and an upgrade that separates bans', () => {
  const given = new Given(0.25, 2).peers(1);
  const { state } = given;
  let at = t0 + dayMs;
  const report = (name: string) => {
    given.event(0, `${name} claimed`, { timestamp: at }, at);
    given.event(0, `${name} banned`, { timestamp: at, eventType: 'ban_applied', severity: 0.5 }, at);
  };
  report('old');
  given.done(decideScoring(state, at), at);
  assertSums(given, at + dayMs);
  for (let i = 0; i < 8; i++) {
    report(`player ${i}`);
    assertSums(given, at + dayMs);
    at += 100 * dayMs;
  }
  const types = new Set(given.records.map(({ record }) => record.type));
  for (const type of ['epoch_moved', 'ban_epoch_moved'] as const) assert.ok(types.has(type), type);
});

test('weights stay, and the evidence that an upheld dispute excludes still does not count', () => {
  const given = new Given(30).peers(4);
  const random = new Random(3);
  for (let i = 0; i < 20; i++) {
    for (let peer = 0; peer < 4; peer++) {
      const eventType = random.pick(['report_cheating', 'ban_applied', 'commendation'] as const);
      given.event(peer, `player-${i}`, { eventType, timestamp: t0 - i * hourMs });
    }
  }
  for (let i = 0; i < 6; i++) {
    const id = `d${i}`;
    const opening = { disputeId: id, caller: 3, subject: subjectOf(`player-${i}`), text: 'no', by: 'test' };
    given.done(decideDisputeOpened(given.state, opening, t0));
    const decision = { disputeId: id, decision: 'uphold', peerIds: ['peer-0'], by: 'test' } as const;
    given.done(decideDispute(given.state, decision, t0));
  }
  assert.ok(given.state.disputes.counts.upheld > 0);
  const at = t0 + 5 * dayMs;
  const { halfLives, decayed } = present(given, at);
  const simulation = simulate(given.state, at, { preTrusted: null, without: [], halfLives }, decayed, 9);
  assert.equal(simulation.changed, []);
  for (const [peer, weight] of simulation.weightsAfter.entries())
    near(weight, simulation.weightsBefore[peer]!, `weight of peer ${peer}`);
});

test.run();
