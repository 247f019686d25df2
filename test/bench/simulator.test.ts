import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TrustSet } from '../../bench/data/trust-set.js';
import { poisson, randomFrom, sample, weightedIndex, weightedSample } from '../../bench/quality/random.js';
import { inject, kindNames, simulate } from '../../bench/quality/simulator.js';

const size = { peers: 10, players: 1000 };

function mean(count: number, draw: () => number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += draw();
  return sum / count;
}

test('the same seed gives the same numbers, another seed others', () => {
  const draw = (seed: number) => Array.from({ length: 5 }, randomFrom(seed));
  assert.equal(draw(7), draw(7));
  assert.not.equal(draw(7), draw(8));
});

test('a Poisson count has its mean', () => {
  const random = randomFrom('poisson');
  // Standard error of 20,000 draws of mean .8: sqrt(.8 / 20000) = .0063; five of them.
  assert.ok(Math.abs(mean(20_000, () => poisson(random, 0.8)) - 0.8) < 0.032);
});

test('a weighted index comes up as often as its part of the weights', () => {
  const random = randomFrom('weights');
  // Part 3/4, standard error of 20,000 draws .0031; five of them.
  assert.ok(Math.abs(mean(20_000, () => weightedIndex([1, 0, 3], random) / 2) - 0.75) < 0.016);
});

test('samples hold different items', () => {
  const random = randomFrom('samples');
  assert.is(new Set(sample([1, 2, 3, 4, 5], 5, random)).size, 5);
  assert.equal(weightedSample([1, 5, 0, 2], 3, random).sort(), [0, 1, 3]);
});

test('the same kind, seed and size give the same group', () => {
  for (const kind of kindNames) assert.equal(simulate(kind, 3, size), simulate(kind, 3, size), kind);
});

test('every group is whole: indexes in range, every player reported, targets and truth among them', () => {
  for (const kind of kindNames) {
    const set = simulate(kind, 5, size);
    const reported = new Set(set.observations.map(({ player }) => player));
    assert.is(reported.size, set.players.length, kind);
    assert.ok(
      set.observations.every(({ peer, severity }) => peer < set.peers.length && severity >= 0.4 && severity <= 1),
      kind,
    );
    assert.ok(
      set.targets.every((player) => set.truth.has(player)),
      kind,
    );
    assert.ok(
      set.preTrusted.every((peer) => !set.adversaries.includes(peer)),
      kind,
    );
  }
});

test('Sybils at 60 % are 15 beside 10 honest peers', () => {
  const set = simulate('sybil60_pre3', 1, size);
  assert.equal([set.peers.length, set.adversaries.length, set.preTrusted.length], [25, 15, 3]);
});

test('colluders invent subjects whose truth nobody knows', () => {
  const set = simulate('collude2', 1, size);
  const unknown = set.players.filter((_, player) => !set.truth.has(player));
  assert.is(unknown.length, 1500);
});

test('a report-only group sends nothing that raises trust, but for the liar in it', () => {
  const raising = ({ observations, adversaries }: TrustSet) =>
    observations.filter(({ polarity, peer }) => polarity > 0 && !adversaries.includes(peer)).length;
  assert.is(raising(simulate('reportonly', 1, size)), 0);
  assert.is(raising(simulate('reportonly_flood1', 1, size)), 0);
});

test('injected attackers leave every real vote and truth as it was', () => {
  const real = simulate('none', 9, size);
  const attacked = inject(real, 'collude3', 2);
  assert.equal(attacked.observations.slice(0, real.observations.length), real.observations);
  assert.equal(attacked.adversaries, [10, 11, 12]);
  assert.equal([...attacked.truth], [...real.truth]);
});

test.run();
