/** Edges of the oracle's fit, and of its comparison with the service's, that drawn groups seldom meet. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fit } from './fit.js';
import { numbers } from './fit-numbers.js';
import { compareFit, type Weighed } from './trust.js';

const group = { peers: 4, preTrusted: new Set<number>(), revoked: new Set<number>() };

test('a carrier without evidence does not take the place of one with the least', () => {
  const carriers = [1, 0].map((peer, i) => ({ number: 3 + i, peer, origin: 2 }));
  const carried = { ...group, peers: 5, preTrusted: new Set([0, 1]), origins: new Set([2]), carriers };
  // A player that peer 0 and the origin praise; so little that it is 0 in single precision.
  const little = 5e-74;
  const reported = [0, 3, 4].map((peer) => ({ player: 0, peer, lowering: 0, raising: peer === 3 ? 0 : little }));
  const without = reported.filter(({ peer }) => peer !== 3);
  assert.equal(fit(reported, carried, numbers), fit(without, carried, numbers));
});

/**
 * The mean votes of peers 0 and 3 and those of 1 and 2 weigh the same, so that the median of all is drawn by the last
 * digit.
 */
function atTheEdge(tilt: number): Weighed[] {
  const shares = [0.1, 0.2, 0.3, 0.45];
  return shares.flatMap((share, peer) =>
    [0, 1, 2].map((player) => {
      const mass = 0.1 + (peer === 1 ? tilt : 0);
      const x = share + (player - 1) * 0.05;
      return { player, peer, lowering: mass * x, raising: mass * (1 - x), error: 1e-12 };
    }),
  );
}

test('where the last digit draws a median, the fit of either side is right, and nothing near one or between', () => {
  const sides = [-1e-13, 1e-13].map((tilt) => fit(atTheEdge(tilt), group, numbers));
  const found = sides.map((side) => compareFit(atTheEdge(0), group, side));
  assert.equal(found.sort(), ['compared', 'compared at an edge']);
  const [less, more] = sides;
  const between = less!.a.map((value, j) => (value + more!.a[j]!) / 2);
  assert.throws(() => compareFit(atTheEdge(0), group, { ...less!, a: between }), /nearest/);
  for (const side of sides) {
    const near = side.a.map((value) => value + 1e-4);
    assert.throws(() => compareFit(atTheEdge(0), group, { ...side, a: near }), /nearest/);
  }
});

test.run();
