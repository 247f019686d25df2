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

test('the tolerance follows the error bounds of the evidence', () => {
  const evidence = (error: number, factor = 1): Weighed[] =>
    [0, 1, 2, 3, 4, 5].flatMap((player) =>
      [0, 1, 2].map((peer) => {
        const [more, less] = [0.4 + 0.1 * peer, 0.1];
        const [lowering, raising] = player % 3 === 0 ? [more, less] : [less, more];
        return { player, peer, lowering: lowering * factor, raising, error };
      }),
    );
  const computed = fit(evidence(0, 1 + 1e-9), group, numbers);
  assert.match(compareFit(evidence(2e-9), group, computed), /^compared/);
  assert.throws(() => compareFit(evidence(1e-12), group, computed), /off by/);
});

test('a spread that is exactly the minimum of a two-sided pair is on either side of it', () => {
  // Seed 500405. Peers 0 and 2 share two players and find both bad: their own means are (2 + .5 mu) / 2.5 = .9, mu
  // being .5, and their spread is 2 * .1^2 = .02, which is .01 of each player. No evidence moves it: a vote counts as
  // one from a mass of 1 on.
  const sums = [
    [0, 0, 1.25, 0],
    [0, 1, 0, 0.3],
    [0, 2, 1.5, 0],
    [0, 3, 0.5, 0],
    [1, 0, 1.15, 0],
    [1, 2, 1.5, 0],
  ] as const;
  const evidence = sums.map(([player, peer, lowering, raising]) => {
    return { player, peer, lowering, raising, error: 1e-12 * (lowering + raising) };
  });
  const sides = [1, -1].map((way) =>
    fit(evidence, group, numbers, (value, terms = value) => value + terms * way * 2 ** -50),
  );
  const [twoSided, oneSided] = sides;
  assert.ok(Math.abs(twoSided!.tau[1]! - oneSided!.tau[1]!) > 1e-3, 'two sides');
  for (const side of sides) assert.match(compareFit(evidence, group, side), /^compared/);
});

test('agreement that consists of the rounding errors of equal votes may come to anything within them', () => {
  // Seed 654044939. Peer 0 votes on one player only, so that the median of all means is its own vote, and its distance
  // from it is 0: the correlation is a rounding error over the least spread, a millionth.
  const evidence = [
    { player: 0, peer: 3, lowering: 0.4994381669969131, raising: 0, error: 5e-13 },
    { player: 1, peer: 0, lowering: 0.17460880412052632, raising: 0.6995153298659081, error: 9e-13 },
    { player: 1, peer: 3, lowering: 0.25, raising: 0, error: 2.5e-13 },
  ];
  const anchored = { ...group, preTrusted: new Set([3]) };
  const own = fit(evidence, anchored, numbers);
  const off = (by: number) => ({ ...own, tau: own.tau.map((gate, peer) => (peer === 0 ? gate + by : gate)) });
  assert.match(compareFit(evidence, anchored, off(5.7e-12)), /^compared/);
  assert.throws(() => compareFit(evidence, anchored, off(1e-7)), /off by/);
});

test.run();
