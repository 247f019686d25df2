import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { auc, meanError, quality, sharesCaught } from '../../bench/statistics.js';

const truthOf = (labels: readonly (0 | 1)[]): Map<number, 0 | 1> => new Map(labels.map((bad, player) => [player, bad]));

function close(actual: number, expected: number): void {
  assert.ok(Math.abs(actual - expected) < 1e-12, `${actual} is not ${expected}`);
}

test('AUC is the share of pairs in which the bad player scores higher; it needs both classes', () => {
  // By hand: bad .8 beats .1, .4 and .35; bad .35 beats .1, ties with .35 (half) and loses to .4: 4.5 of 6 pairs.
  close(auc([0, 0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8, 0.35]), 4.5 / 6);
  close(auc([1, 0, 1, 0], [0.5, 0.5, 0.5, 0.5]), 0.5);
  close(auc([1, 1, 0], [0.1, 0.2, 0.3]), 0);
  assert.ok(Number.isNaN(auc([1, 1], [0.2, 0.4])));
});

test('accuracy counts a score of exactly a half as half right, Brier the squared distance from the truth', () => {
  const { accuracy, brier } = quality([0.9, 0.5, 0.7, 0.1], truthOf([1, 1, 0, 0]));
  // By hand: .9 for bad is right, .5 is half, .7 for good is wrong, .1 for good is right: 2.5 of 4.
  close(accuracy, 2.5 / 4);
  // By hand: .01 + .25 + .49 + .01 = .76 over 4.
  close(brier, 0.19);
});

test('players without a known truth are not judged', () => {
  close(quality([0.9, 0.5, 0.2], new Map([[2, 0]])).brier, 0.04);
  close(meanError([0.9, 0.5, 0.2], new Map([[2, 0]]), [0, 2]), 0.2);
  assert.ok(Number.isNaN(meanError([0.9], truthOf([1]), [])));
});

test('a bad player is caught where it is riskier than all good ones but those that may be hit', () => {
  // Good players at .6, .5 and .1; bad ones at .9, .55, .5 and .2.
  const risks = [0.6, 0.9, 0.5, 0.55, 0.1, 0.5, 0.2];
  const truth = truthOf([0, 1, 0, 1, 0, 1, 1]);
  const caught = sharesCaught(risks, truth, () => [0, 1, 2, 3]);
  assert.equal(caught, [1 / 4, 2 / 4, 4 / 4, 1]);
});

test('a bad player that ties with a good one is caught only where the good one may be hit', () => {
  const shares = sharesCaught([0.5, 0.5], truthOf([0, 1]), () => [0, 1]);
  assert.equal(shares, [0, 1]);
  assert.ok(Number.isNaN(sharesCaught([0.5], truthOf([0]), () => [0])[0]));
});

test.run();
