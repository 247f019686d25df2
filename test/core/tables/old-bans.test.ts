/** Logs of the second version of scoring, in which a ban was a claim, until the record from which bans are measures. */

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { asOfTime } from '../../../src/core/evidence/decay.js';
import type { EventTypeName } from '../../../src/core/evidence/event-types.js';
import { carriedSums } from '../../../src/core/rules/decide-removal.js';
import { decideHalfLife, decideScoring, SCORING_VERSION } from '../../../src/core/rules/decide-setting.js';
import { snapshotBlocks } from '../../../src/core/snapshot/snapshot.js';
import { stateDigest } from '../../../src/core/snapshot/state-digest.js';
import { replacementOf } from '../../../src/group/removal/redaction.js';
import { dayMs, Given, subjectOf, t0 } from '../../support/given.js';
import { Random } from '../../support/random.js';

const second = () => new Given(30, 2).peers(2);
const upgrade = (given: Given, now = t0) => given.done(decideScoring(given.state, now), now);

function send(given: Given, eventType: EventTypeName, more: object = {}, now = t0): number {
  const sent = given.event(0, 'a', { eventType, timestamp: now, ...more }, now);
  assert.ok(sent.ok);
  return sent.ok ? sent.value : 0;
}

test('until the version changes a ban is a claim that follows nobody; then it is a measure', () => {
  const given = second();
  given.event(1, 'a', { eventType: 'ban_applied' });
  send(given, 'ban_applied', { severity: 0.5 });
  send(given, 'report_spam');
  assert.equal(given.sums('a'), { lowering: 0.75, raising: 0, measure: 0, follows: 0, count: 2 });
  assert.throws(() => [...snapshotBlocks(given.state)], /earlier version of scoring/);
  upgrade(given);
  assert.is(given.state.scoring.version, SCORING_VERSION);
  assert.equal(given.sums('a'), { lowering: 0.25, raising: 0, measure: 0.5, follows: 0, count: 2 });
  assert.ok([...snapshotBlocks(given.state)].length > 0);
});

test('a ban that became a measure has the value that it would have had it always been one', () => {
  const now = t0 + 45 * dayMs;
  const given = second();
  const always = new Given(30).peers(2);
  for (const of of [given, always]) {
    send(of, 'ban_applied', {}, t0 + 20 * dayMs);
    of.apply(decideHalfLife(of.state, 'claims', 7, now).records, now);
    send(of, 'ban_applied', { severity: 0.5 }, now);
  }
  upgrade(given, now);
  assert.is(given.sums('a').lowering, 0);
  assert.ok(Math.abs(given.sums('a').measure - always.sums('a').measure) < 1e-12);
  const { measureFactor } = asOfTime(given.state, now);
  assert.ok(Math.abs(given.sums('a').measure * measureFactor - (2 ** (-25 / 180) + 0.5)) < 1e-12);
});

test('after any events, withdrawals and half-lives the bans that stand become measures, and nothing else', () => {
  const random = new Random(31);
  for (let round = 0; round < 400; round++) {
    const given = second();
    const sent: { seq: number; type: EventTypeName; severity: number; isWithdrawn: boolean }[] = [];
    for (let step = 0; step < 14; step++) {
      const left = sent.filter(({ isWithdrawn }) => !isWithdrawn);
      if (random.below(3) === 0 && left.length > 0) {
        const one = random.pick(left);
        assert.is(given.withdraw(0, one.seq), 'ok');
        one.isWithdrawn = true;
      } else if (random.below(12) === 0) {
        given.done(decideHalfLife(given.state, 'claims', 1 + random.below(40), t0));
      } else {
        const type = random.pick(['ban_applied', 'report_cheating', 'ban_lifted', 'commendation'] as const);
        const severity = random.pick([1, 0.5, 0]);
        sent.push({ seq: send(given, type, { severity }), type, severity, isWithdrawn: false });
      }
    }
    let [claims, measure] = [0, 0];
    for (const { type, severity, isWithdrawn } of sent) {
      if (isWithdrawn) continue;
      if (type === 'ban_lifted' && severity > 0) [claims, measure] = [0, 0];
      else if (type === 'ban_applied') measure += severity;
      else if (type === 'report_cheating') claims += severity;
    }
    upgrade(given);
    const held = sent.length > 0 ? given.sums('a') : { lowering: 0, measure: 0 };
    const what = `${held.lowering} and ${held.measure} for ${claims} and ${measure}: ${JSON.stringify(sent)}`;
    assert.ok(Math.abs(held.lowering - claims) < 1e-9 && Math.abs(held.measure - measure) < 1e-9, what);
    assert.is(stateDigest(given.replayed()), stateDigest(given.state));
    // Withdrawn events leave the log, and the bans stay what they were.
    const gone = new Set(sent.filter(({ isWithdrawn }) => isWithdrawn).map(({ seq }) => seq));
    const tagOf = (id: string) => given.state.idTags.of(id);
    const redacted = given.replayed((record, seq) => (gone.has(seq) ? replacementOf(record, tagOf) : record));
    assert.is(stateDigest(redacted), stateDigest(given.state));
  }
});

test('a ban of the second version is withdrawn or lifted like a measure once it is one', () => {
  const given = second();
  const ban = send(given, 'ban_applied');
  send(given, 'report_cheating');
  upgrade(given);
  const lifting = send(given, 'ban_lifted');
  assert.equal([given.sums('a').lowering, given.sums('a').measure], [0, 0]);
  assert.is(given.withdraw(0, lifting), 'ok');
  assert.equal([given.sums('a').lowering, given.sums('a').measure], [1, 1]);
  assert.is(given.withdraw(0, ban), 'ok');
  assert.equal([given.sums('a').lowering, given.sums('a').measure], [1, 0]);
});

test('sums that an earlier release carried over stay claims, since nothing says which of them were bans', () => {
  const given = second();
  send(given, 'ban_applied');
  const { measure: _measure, follows: _follows, ...carried } = carriedSums(given.state, subjectOf('a'), 0)!;
  const later = new Given(30, 2).peers(2);
  later.apply([{ ...carried, prev: 0 }], t0);
  upgrade(later);
  assert.equal([later.sums('a').lowering, later.sums('a').measure], [1, 0]);
});

test.run();
