import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { probesOf, promisesOf, worstPromises } from '../../bench/quality/promises.js';
import { simulate } from '../../bench/quality/simulator.js';
import {
  calibrationOf,
  countVerdicts,
  countVictims,
  damageOf,
  precisionOf,
  sumCalibrations,
  sumEach,
} from '../../bench/quality/verdicts.js';
import type { Verdict } from '../../src/core/vocabulary.js';

/** Three bad players, then three good ones. */
const truth = new Map<number, 0 | 1>([1, 1, 1, 0, 0, 0].map((bad, player) => [player, bad as 0 | 1]));
const verdicts: readonly Verdict[] = ['untrusted', 'suspicious', 'neutral', 'suspicious', 'trusted', 'neutral'];

test('suspicious or worse counts untrusted players, too, and counts of groups add up', () => {
  const { untrusted, suspicious } = countVerdicts(verdicts, truth);
  assert.equal(untrusted, { caught: 1, bad: 3, hit: 0, good: 3 });
  assert.equal(suspicious, { caught: 2, bad: 3, hit: 1, good: 3 });
  assert.equal(sumEach([suspicious, suspicious]), { caught: 4, bad: 6, hit: 2, good: 6 });
  assert.equal([precisionOf(untrusted), precisionOf(suspicious)], [1, 2 / 3]);
  const nobody = countVerdicts(['neutral'], new Map([[0, 1]]));
  assert.ok(Number.isNaN(precisionOf(nobody.untrusted)));
});

test('victims are the good players among the targets', () => {
  assert.equal(countVictims(verdicts, { truth, targets: [0, 3, 4] }), { caught: 0, bad: 0, hit: 1, good: 2 });
});

test('damage counts only verdicts that the attack changed', () => {
  const without: readonly Verdict[] = ['suspicious', 'neutral', 'suspicious', 'suspicious', 'neutral', 'neutral'];
  const now: readonly Verdict[] = ['untrusted', 'suspicious', 'trusted', 'untrusted', 'suspicious', 'neutral'];
  assert.equal(damageOf(now, without, { truth, targets: [3, 4] }), {
    targets: 2,
    goodUntrusted: 1,
    goodSuspicious: 1,
    badCaught: 2,
    badLost: 1,
    badTrusted: 1,
    badGained: 1,
  });
});

test('calibration counts players by tenths of the predicted probability, a certain one in the last', () => {
  const bins = calibrationOf([0.05, 0.09, 0.95, 1, 0.1, 0.55], truth);
  const counts = bins.map(({ players, bad }) => [players, bad]);
  const none = [0, 0];
  assert.equal(counts, [[2, 2], [1, 0], none, none, none, [1, 0], none, none, none, [2, 1]]);
  assert.is(bins[9]!.predicted, 1.95);
  assert.equal(sumCalibrations([bins, bins])[0], { players: 4, bad: 4, predicted: 2 * bins[0]!.predicted });
});

test('probes are three unknown players for each peer: one event each way, and a thousand', () => {
  const set = simulate('none', 1, { peers: 4, players: 100 });
  const probes = probesOf(set)!;
  assert.is(probes.players.length, 12);
  const countOf = (player: number) => probes.observations.filter((seen) => seen.player === player).length;
  assert.equal([3, 4, 5].map(countOf), [1, 1, 1000]);
  assert.ok(probes.observations.filter(({ player }) => player >= 3 && player < 6).every(({ peer }) => peer === 1));
  assert.is(probesOf({ ...set, peers: Array.from({ length: 201 }, (_, j) => `p${j}`) }), null);
});

test('a promise is judged by the worst peer, and a thousand reports by peers that are not pre-trusted', () => {
  const set = { ...simulate('none', 1, { peers: 2, players: 100 }), peers: ['a', 'b'], preTrusted: [1] };
  const score = [46, 53, 41, 45, 51, 30];
  const verdict: readonly Verdict[] = ['neutral', 'neutral', 'neutral', 'neutral', 'trusted', 'suspicious'];
  const promises = promisesOf(set, { score, verdict });
  const expected = { lowered: 5, raised: 3, leftNeutral: 1, lowestOfMany: 41, manyLeftNeutral: 0 };
  assert.equal(promises, expected);
  const worst = worstPromises([promises, { ...promises, lowered: 1, lowestOfMany: 40 }]);
  assert.equal(worst, { ...expected, leftNeutral: 2, lowestOfMany: 40 });
});

test.run();
