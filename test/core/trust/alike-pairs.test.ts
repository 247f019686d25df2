/** Alike peers become witness groups by complete linkage, the closest pairs first. */

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { trustConstants } from '../../../src/core/evidence/trust-constants.js';
import { AlikePairs } from '../../../src/core/trust/alike-pairs.js';
import { ApartGroups, Witnesses } from '../../../src/core/trust/witnesses.js';
import type { PeerRelation } from '../../../src/core/vocabulary.js';

type Pair = readonly [j: number, k: number, closeness: number];

function joined(peers: number, pairs: readonly Pair[], relations: readonly PeerRelation[] = []): Witnesses {
  const witnesses = new Witnesses(peers, relations);
  const alike = new AlikePairs(witnesses, trustConstants);
  for (const [j, k, closeness] of pairs) alike.add(j, k, closeness);
  alike.join('clones');
  return witnesses;
}

const groupsOf = (...of: Parameters<typeof joined>) => [...joined(...of).numbers];

test('a peer that is alike to two which are not alike joins the closer one, and never both', () => {
  assert.equal(
    groupsOf(3, [
      [0, 2, 0.8],
      [1, 2, 0.9],
    ]),
    [0, 1, 1],
  );
  assert.equal(
    groupsOf(4, [
      [0, 1, 0.9],
      [0, 3, 0.8],
      [1, 2, 0.8],
      [2, 3, 0.9],
    ]),
    [0, 0, 2, 2],
  );
  assert.equal(
    groupsOf(3, [
      [0, 1, 0.7],
      [0, 2, 0.8],
      [1, 2, 0.9],
    ]),
    [0, 0, 0],
  );
});

test('among pairs that are equally close the peers that registered first are joined first', () => {
  assert.equal(
    groupsOf(3, [
      [0, 2, 0.8],
      [1, 2, 0.8],
    ]),
    [0, 1, 0],
  );
  assert.equal(
    groupsOf(4, [
      [0, 3, 0.8],
      [1, 3, 0.8],
      [2, 3, 0.8],
    ]),
    [0, 1, 2, 0],
  );
});

test('peers that were declared the same are alike to whatever any of them is alike to', () => {
  const same: PeerRelation = { first: 0, second: 1, relation: 'same' };
  assert.equal(groupsOf(3, [[1, 2, 0.8]], [same]), [0, 0, 0]);
  assert.equal(
    groupsOf(
      4,
      [
        [1, 2, 0.8],
        [1, 3, 0.7],
      ],
      [same],
    ),
    [0, 0, 0, 3],
  );
});

test('no third peer brings two together that were declared independent', () => {
  const apart: PeerRelation = { first: 0, second: 1, relation: 'independent' };
  assert.equal(
    groupsOf(
      3,
      [
        [0, 1, 1],
        [0, 2, 0.9],
        [1, 2, 0.8],
      ],
      [apart],
    ),
    [0, 1, 0],
  );
});

test('pairs beyond the first 65,536 are joined in their order, too; of more than fit the closer half', () => {
  const peers = 400;
  const pairs: Pair[] = [];
  for (let j = 0; j < peers; j++)
    for (let k = j + 1; k < peers; k++) pairs.push([j, k, k === peers - 1 && j === k - 1 ? 1 : 0.5]);
  assert.ok(pairs.length > 2 ** 16);
  const found = joined(peers, pairs);
  assert.ok(found.numbers.every((named) => named === 0));
  assert.equal(
    found.pairs.slice(0, 3).map(({ first, second }) => [first, second]),
    [
      [398, 399],
      [0, 1],
      [0, 2],
    ],
  );
  const witnesses = new Witnesses(4);
  const alike = new AlikePairs(witnesses, { pairsMax: 2 });
  for (const [j, k, closeness] of [
    [0, 1, 0.5],
    [0, 2, 1],
    [1, 2, 0.7],
  ] as const)
    alike.add(j, k, closeness);
  alike.join('clones');
  assert.equal([...witnesses.numbers], [0, 0, 0, 3]);
  assert.equal(
    witnesses.pairs.map(({ first, second }) => [first, second]),
    [
      [0, 2],
      [1, 2],
    ],
  );
});

test('two groups that are not alike are compared once, however many of their peers are', () => {
  const size = 60;
  const witnesses = new Witnesses(2 * size);
  let compared = 0;
  const areAlike = (j: number, k: number) => {
    compared++;
    return j % size < size - 1 || k % size < size - 1 || j === k;
  };
  const rule = { reason: 'clones', areAlike, apart: new ApartGroups() } as const;
  for (const from of [0, size]) for (let k = 1; k < size; k++) witnesses.joinIfAlike(from, from + k, rule);
  for (let j = 0; j < size; j++) for (let k = size; k < 2 * size; k++) witnesses.joinIfAlike(j, k, rule);
  assert.equal([...new Set(witnesses.numbers)], [0, size]);
  assert.ok(compared <= 2 * size * size);
});

test.run();
