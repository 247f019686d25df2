/**
 * The list of pairs of stage 1, with one value that is worked out by hand. `sim/service-fit.test.ts` compares the
 * others with an independent computation.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readVotes } from '../../../bench/quality/evidence-columns.js';
import { trustConstants } from '../../../src/core/evidence/trust-constants.js';
import { type Centres, PairList } from '../../../src/core/trust/pair-list.js';
import { VoteSums } from '../../../src/core/trust/sums/vote-sums.js';
import { Scratch } from '../../../src/core/trust/votes/scratch.js';
import { ApartGroups, Witnesses } from '../../../src/core/trust/witnesses.js';
import { bad, type Entry, evidenceOf, factsOf, good } from './small-groups.js';

const even: Centres = { mu: 0.5, own: Float64Array.of(0.5, 0.5) };

function pairsOf(rows: readonly (readonly Entry[])[], centres: Centres, peers = 2, witnesses = new Witnesses(peers)) {
  const scratch = new Scratch();
  const sums = new VoteSums(peers, trustConstants, scratch);
  sums.add(readVotes(evidenceOf(peers, rows), factsOf(peers), scratch));
  const pairs = new PairList(centres, witnesses, new Uint8Array(peers), trustConstants);
  sums.showPairs((j, k, pairSums, at) => pairs.add(j, k, pairSums, at));
  return pairs;
}

function repeat(count: number, row: readonly Entry[]): (readonly Entry[])[] {
  return new Array<readonly Entry[]>(count).fill(row);
}

function near(actual: number | undefined, expected: number): void {
  assert.ok(Math.abs(actual! - expected) < 1e-12, `${actual}, expected ${expected}`);
}

test('a pair in perfect agreement earns no more than one that agrees on two players of three', () => {
  const perfect = pairsOf([...repeat(13, [bad(0), bad(1)]), ...repeat(14, [good(0), good(1)])], even);
  // u = +-.5: r = (18 - 9) / 27 = 1/3, above the .2 that already counts in full.
  const honest = pairsOf(
    [...repeat(9, [bad(0), bad(1)]), ...repeat(9, [good(0), good(1)]), ...repeat(9, [bad(0), good(1)])],
    even,
  );
  assert.is(perfect.count, 1);
  assert.is(perfect.shared[0], 27);
  near(perfect.agreement[0], 27 / 30);
  near(honest.agreement[0], 27 / 30);
  assert.is(perfect.weight[0], 27);
});

test('two peers of one witness group are not compared as a pair', () => {
  const witnesses = new Witnesses(3);
  witnesses.joinIfAlike(0, 2, { reason: 'clones', areAlike: () => true, apart: new ApartGroups() });
  const own = Float64Array.of(0.5, 0.5, 0.5);
  const pairs = pairsOf(repeat(5, [bad(0), bad(1), bad(2)]), { mu: 0.5, own }, 3, witnesses);
  assert.equal(
    Array.from({ length: pairs.count }, (_, p) => [pairs.first[p], pairs.second[p]]),
    [
      [0, 1],
      [1, 2],
    ],
  );
});

test('entries without mass are no votes, and peers that share no player are no pair', () => {
  const own = Float64Array.of(0.5, 0.5, 0.5);
  const pairs = pairsOf([[bad(0), [1, 0, 0]], [bad(2)], [bad(1), good(2)]], { mu: 0.5, own }, 3);
  assert.equal([pairs.count, pairs.first[0], pairs.second[0]], [1, 1, 2]);
});

test('a full list drops the pairs that share the fewest players, but none with a pre-trusted peer', () => {
  const peers = 8;
  const list = new PairList(
    { mu: 0.5, own: new Float64Array(peers).fill(0.5) },
    new Witnesses(peers),
    Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0),
    { ...trustConstants, pairsMax: 4 },
  );
  const add = (j: number, k: number, shared: number) => list.add(j, k, Float64Array.of(shared, 0, 0, 0, 1, 1), 0);
  add(0, 1, 1);
  add(1, 2, 1);
  add(1, 3, 5);
  add(1, 4, 3);
  // Full: from here on a pair needs two shared players.
  add(2, 3, 1);
  add(2, 4, 2);
  // Full again: four.
  add(2, 5, 4);
  add(2, 6, 3);
  add(0, 7, 1);
  const listed = Array.from({ length: list.count }, (_, p) => [list.first[p], list.second[p], list.shared[p]]);
  assert.equal(listed, [
    [0, 1, 1],
    [1, 3, 5],
    [2, 5, 4],
    [0, 7, 1],
  ]);
});

test.run();
