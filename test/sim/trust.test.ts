/**
 * The comparison of computed weights: as fine as evidence is known, and no finer where the fit itself is at an edge.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../support/random.js';
import { type Fitted, fit } from './fit.js';
import { numbers } from './fit-numbers.js';
import { columns } from './fit-votes.js';
import { compareFit, type Weighed } from './trust.js';

const group = { peers: 4, preTrusted: new Set<number>(), revoked: new Set<number>() };

/** Four peers that vote on most of sixty players, a third of them bad, and are right in eight of ten. */
function reported(error: number): Weighed[] {
  const random = new Random(1);
  return Array.from({ length: 60 }, (_, player) => player).flatMap((player) =>
    [0, 1, 2, 3].flatMap((peer) => {
      if (random.below(5) === 0) return [];
      const isBad = (player % 3 === 0) === random.below(10) < 8;
      const [more, less] = [0.4 + random.next(), 0.1 * random.next()];
      return [
        { player, peer, lowering: isBad ? more : less, raising: isBad ? less : more, error: error * (more + less) },
      ];
    }),
  );
}

const moved = (evidence: readonly Weighed[], by: number) =>
  evidence.map((one, i) => ({ ...one, lowering: one.lowering * (1 + (i % 2 === 0 ? by : -by)) }));

test('a value that is off by a thousand millionth is found where evidence is known to the last digits', () => {
  const evidence = reported(1e-12);
  const right = fit(evidence, group, numbers);
  assert.is(compareFit(evidence, group, right), 'compared');
  for (const name of columns) {
    const column = right[name].map((value, j) => (j === 2 ? value - 1e-9 : value));
    assert.throws(() => compareFit(evidence, group, { ...right, [name]: column }), /off by/, name);
  }
  assert.throws(() => compareFit(evidence, group, { ...right, pi: right.pi + 1e-9 }), /off by/);
  assert.throws(() => compareFit(evidence, group, { ...right, tau: right.tau.slice(1) }), /off by/);
  assert.throws(() => compareFit(evidence, group, { ...right, pi: Number.NaN }), /off by/);
});

test('the tolerance follows the error bounds of the evidence', () => {
  const other = fit(moved(reported(0), 1e-9), group, numbers);
  assert.is(compareFit(reported(2e-9), group, other), 'compared');
  assert.throws(() => compareFit(reported(1e-12), group, other), /off by/);
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

test('where the last digit draws a median, the fit of either side is right, and nothing between', () => {
  const [less, more] = [-1e-13, 1e-13].map((tilt) => fit(atTheEdge(tilt), group, numbers)) as [
    ReturnType<typeof fit>,
    ReturnType<typeof fit>,
  ];
  assert.ok(Math.abs(less.tau[0]! - more.tau[0]!) > 1e-3 || Math.abs(less.a[0]! - more.a[0]!) > 1e-3, 'two sides');
  const found = [less, more].map((side) => compareFit(atTheEdge(0), group, side));
  assert.equal(found.sort(), ['compared', 'compared at an edge']);
  const between = less.a.map((value, j) => (value + more.a[j]!) / 2);
  assert.throws(() => compareFit(atTheEdge(0), group, { ...less, a: between }), /nearest/);
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
  const [twoSided, oneSided] = [1, -1].map((way) =>
    fit(evidence, group, numbers, (value, terms = value) => value + terms * way * 2 ** -50),
  ) as [Fitted, Fitted];
  assert.ok(Math.abs(twoSided.tau[1]! - oneSided.tau[1]!) > 1e-3, 'two sides');
  for (const side of [twoSided, oneSided]) assert.match(compareFit(evidence, group, side), /^compared/);
  assert.throws(() => compareFit(evidence, group, { ...oneSided, tau: [1, 0.5, 1, 1] }), /nearest/);
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
