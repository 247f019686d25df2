/**
 * A ban is a measure beside claims: its half-life, its erasure, and sums that are carried over. Liftings are in
 * `taking-back.test.ts`, withdrawals in `repeats.test.ts`.
 */

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { asOfTime } from '../../src/core/evidence/decay.js';
import { FOLLOWS } from '../../src/core/evidence/evidence.js';
import { carriedSums, decideErasure } from '../../src/core/rules/decide-removal.js';
import { decideHalfLife } from '../../src/core/rules/decide-setting.js';
import { stateDigest } from '../../src/core/snapshot/state-digest.js';
import { blanked, replacementOf } from '../../src/group/removal/redaction.js';
import { bounds, dayMs, Given, subjectOf, t0 } from '../support/given.js';

const ban = { eventType: 'ban_applied' } as const;

/** Two peers that report and ban a player, the second after the first. */
function banned(): Given {
  const given = new Given(30).peers(3);
  given.event(0, 'a', { ...ban, severity: 0.7 });
  given.event(0, 'a', { severity: 0.3, timestamp: t0 - dayMs });
  given.event(0, 'a', { eventType: 'commendation' });
  given.event(1, 'a', ban);
  return given;
}

/** The sums of a pair at a time. */
function present(given: Given, at: number): readonly [claims: number, measure: number] {
  const { decayFactor, measureFactor } = asOfTime(given.state, at);
  const { lowering, measure } = given.sums('a');
  return [lowering * decayFactor, measure * measureFactor];
}

function near(actual: readonly number[], expected: readonly number[]): void {
  assert.ok(
    actual.every((value, i) => Math.abs(value - expected[i]!) < 1e-12),
    `${actual}, expected ${expected}`,
  );
}

test('a ban loses half of its value in one half-life of bans, a report in one of claims', () => {
  const given = new Given(30).peers(1);
  given.event(0, 'a', ban);
  given.event(0, 'a', {});
  near(present(given, t0 + 30 * dayMs), [0.5, 2 ** (-1 / 6)]);
  near(present(given, t0 + 180 * dayMs), [2 ** -6, 0.5]);
  given.event(0, 'a', { ...ban, timestamp: t0 - 180 * dayMs });
  near(present(given, t0), [1, 1.5]);
});

test('a change of either half-life keeps every present value and changes the decay of its kind alone', () => {
  const at = t0 + 60 * dayMs;
  for (const kind of ['claims', 'measures'] as const) {
    const given = new Given(30).peers(1);
    given.event(0, 'a', ban);
    given.event(0, 'a', {});
    const before = present(given, at);
    given.done(decideHalfLife(given.state, kind, 15, at), at);
    near(present(given, at), before);
    const lives = kind === 'claims' ? [15, 180] : [30, 15];
    near(
      present(given, at + 15 * dayMs),
      before.map((value, i) => value * 2 ** (-15 / lives[i]!)),
    );
    assert.equal([given.state.halfLifeDays, given.state.measureScale.halfLifeDays], lives);
    assert.is(stateDigest(given.replayed()), stateDigest(given.state));
  }
});

test('the epochs of claims and of measures move each for itself, and no value changes', () => {
  const at = t0 + 400 * 180 * dayMs;
  const given = new Given(30).peers(1);
  given.event(0, 'a', ban);
  given.event(0, 'b', {}, at);
  assert.is(given.records.filter(({ record }) => record.type === 'epoch_moved').length, 1);
  assert.equal(given.state.measureScale.epoch, t0);
  given.event(0, 'a', { ...ban, timestamp: at }, at);
  assert.is(given.records.filter(({ record }) => record.type === 'ban_epoch_moved').length, 1);
  assert.is(given.state.measureScale.epoch, at);
  assert.is(given.sums('a').measure, 1 + 2 ** -400);
  assert.is(stateDigest(given.replayed()), stateDigest(given.state));
});

test('an erasure leaves neither a measure in the tables nor a word of one in the records', () => {
  const given = banned();
  const lifting = given.event(1, 'a', { eventType: 'ban_lifted' });
  assert.ok(lifting.ok);
  given.withdraw(1, lifting.value);
  const carried = carriedSums(given.state, subjectOf('a'), 1)!;
  given.apply([carried], t0);
  const erasure = { caller: 0, subject: subjectOf('a'), commitment: 'c', by: 'test' };
  given.done(decideErasure(given.state, bounds, erasure, t0));
  assert.is(given.state.subjects.entries.measured, 0);
  const tagOf = (id: string) => given.state.idTags.of(id);
  for (const { record } of given.records) {
    const left = blanked(record, tagOf);
    if (left !== null) assert.ok(!('measure' in left || 'follows' in left || 'hidden' in left), left.type);
  }
  const redacted = given.replayed((record) => replacementOf(record, tagOf));
  assert.is(stateDigest(redacted), stateDigest(given.state));
  given.event(1, 'a', ban);
  assert.equal(given.sums('a', 1), { lowering: 0, raising: 0, measure: 1, follows: 0, count: 1 });
});

test('sums that are carried over hold measure and bits, and a log without the events gives the same state', () => {
  const given = banned();
  const last = given.state.lastSeq;
  for (const peer of [0, 1]) given.apply([carriedSums(given.state, subjectOf('a'), peer)!], t0);
  assert.equal(given.sums('a', 1), { lowering: 0, raising: 0, measure: 1, follows: FOLLOWS, count: 1 });
  const tagOf = (id: string) => given.state.idTags.of(id);
  const expired = given.replayed((record, seq) =>
    seq <= last && record.type === 'event_accepted' ? replacementOf(record, tagOf) : record,
  );
  assert.is(stateDigest(expired), stateDigest(given.state));
  assert.equal(expired.subjects.entries.measured, 2);
});

test.run();
