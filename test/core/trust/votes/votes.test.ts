/** The evidence that counts as a vote. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readVotes } from '../../../../bench/quality/evidence-columns.js';
import { trustConstants } from '../../../../src/core/evidence/trust-constants.js';
import { PairList } from '../../../../src/core/trust/pair-list.js';
import { VoteSums } from '../../../../src/core/trust/sums/vote-sums.js';
import { Scratch } from '../../../../src/core/trust/votes/scratch.js';
import { Witnesses } from '../../../../src/core/trust/witnesses.js';
import { bad, type Entry, evidenceOf, factsOf, good } from '../small-groups.js';

const none = (peer: number): Entry => [peer, 0, 0];

function votesOf(rows: readonly (readonly Entry[])[], excluded: readonly number[] = []) {
  const votes = readVotes(evidenceOf(4, rows), factsOf(4, [], excluded), new Scratch());
  const { players, offsets, peer, claims, x } = votes;
  const listed = Array.from({ length: players }, (_, i) =>
    Array.from({ length: offsets[i + 1]! - offsets[i]! }, (_, n) => {
      const e = offsets[i]! + n;
      return [peer[e], claims[e], x[e]];
    }),
  );
  return { votes, listed };
}

test('a vote is its mass, and the part of it that lowers', () => {
  const { listed } = votesOf([[[1, 0.5, 1.5]], [bad(0), good(3)]]);
  assert.equal(listed, [
    [[1, 2, 0.25]],
    [
      [0, 1, 1],
      [3, 1, 0],
    ],
  ]);
});

test('evidence without mass, or of excluded peers, is no vote; a player without votes does not count', () => {
  const rows = [[], [], [none(0), bad(1), good(2)], [], [bad(3)], [none(1)], [], [good(0), bad(3)]];
  const { listed } = votesOf(rows, [3]);
  assert.equal(listed, [
    [
      [1, 1, 1],
      [2, 1, 0],
    ],
    [[0, 1, 0]],
  ]);
});

test('sums contain the number of reported and of shared players of a peer, and its votes', () => {
  const { votes } = votesOf([[bad(0), good(1)], [bad(0)], [[0, 0.25, 0.25], none(1)], [[1, 0, 7]], [bad(1), bad(2)]]);
  const sums = new VoteSums(4, trustConstants, new Scratch());
  sums.add(votes);
  assert.equal([...sums.reported], [3, 3, 1, 0]);
  assert.equal([...sums.shared], [1, 2, 1, 0]);
  assert.equal([...sums.volume], [2.5, 3, 1, 0]);
  assert.equal([...sums.badVolume], [2.25, 1, 1, 0]);
});

test('votes in parts come to the sums of all of them', () => {
  const rows: (readonly Entry[])[] = [[bad(0), good(1)], [bad(2)], [good(0), bad(2), bad(3)], [bad(0), bad(1)]];
  const whole = new VoteSums(4, trustConstants, new Scratch());
  whole.add(votesOf(rows).votes);
  const parts = new VoteSums(4, trustConstants, new Scratch());
  for (const part of [rows.slice(0, 1), rows.slice(1, 2), rows.slice(2)]) parts.add(votesOf(part).votes);
  const even = { mu: 0.5, own: new Float64Array(4).fill(0.5) };
  const contents = (sums: VoteSums) => {
    const list = new PairList(even, new Witnesses(4), new Uint8Array(4), trustConstants);
    sums.showPairs((j, k, pairSums, at) => list.add(j, k, pairSums, at));
    const { count, first, second, shared, agreement } = list;
    const pairs = Array.from({ length: count }, (_, p) => [first[p], second[p], shared[p], agreement[p]]);
    return { volume: sums.volume, reported: sums.reported, shared: sums.shared, pairs };
  };
  assert.is(contents(whole).pairs.length, 4);
  assert.equal(contents(parts), contents(whole));
});

test.run();
