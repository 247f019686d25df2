/** Alike peers become witness groups by complete linkage, the closest pairs first. */

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { trustConstants } from '../../../src/core/evidence/trust-constants.js';
import { AlikePairs } from '../../../src/core/trust/alike-pairs.js';
import { ApartGroups, Witnesses } from '../../../src/core/trust/witnesses.js';
import type { PeerRelation } from '../../../src/core/vocabulary.js';

type Pair = readonly [j: number, k: number, closeness: number];
const pair = (...of: Pair): Pair => of;

function joined(peers: number, pairs: readonly Pair[], relations: readonly PeerRelation[] = [], pairsMax?: number) {
  const witnesses = new Witnesses(peers, relations);
  const alike = new AlikePairs(witnesses, pairsMax === undefined ? trustConstants : { pairsMax });
  for (const [j, k, closeness] of pairs) alike.add(j, k, closeness);
  alike.join('clones');
  return witnesses;
}

const groupsOf = (peers: number, ...pairs: readonly Pair[]) => [...joined(peers, pairs).numbers];
const namesOf = ({ pairs }: Witnesses) => pairs.map(({ first, second }) => `${first} ${second}`);

test('a peer that is alike to two which are not alike joins the closer one, and never both', () => {
  assert.equal(groupsOf(3, pair(0, 2, 0.8), pair(1, 2, 0.9)), [0, 1, 1]);
  assert.equal(groupsOf(4, pair(0, 1, 0.9), pair(0, 3, 0.8), pair(1, 2, 0.8), pair(2, 3, 0.9)), [0, 0, 2, 2]);
  assert.equal(groupsOf(3, pair(0, 1, 0.7), pair(0, 2, 0.8), pair(1, 2, 0.9)), [0, 0, 0]);
});

test('among pairs that are equally close the peers that registered first are joined first', () => {
  assert.equal(groupsOf(3, pair(0, 2, 0.8), pair(1, 2, 0.8)), [0, 1, 0]);
  assert.equal(groupsOf(4, pair(0, 3, 0.8), pair(1, 3, 0.8), pair(2, 3, 0.8)), [0, 1, 2, 0]);
});

test('peers that were declared the same are alike to whatever any of them is alike to', () => {
  const same: PeerRelation = { first: 0, second: 1, relation: 'same' };
  assert.equal([...joined(3, [pair(1, 2, 0.8)], [same]).numbers], [0, 0, 0]);
  assert.equal([...joined(4, [pair(1, 2, 0.8), pair(1, 3, 0.7)], [same]).numbers], [0, 0, 0, 3]);
});

test('no third peer brings two together that were declared independent', () => {
  const apart: PeerRelation = { first: 0, second: 1, relation: 'independent' };
  assert.equal([...joined(3, [pair(0, 1, 1), pair(0, 2, 0.9), pair(1, 2, 0.8)], [apart]).numbers], [0, 1, 0]);
});

test('pairs beyond the first 65,536 are joined in their order, too; of more than fit the closer half', () => {
  const peers = 400;
  const pairs: Pair[] = [];
  for (let j = 0; j < peers; j++)
    for (let k = j + 1; k < peers; k++) pairs.push([j, k, k === peers - 1 && j === k - 1 ? 1 : 0.5]);
  assert.ok(pairs.length > 2 ** 16);
  const found = joined(peers, pairs);
  assert.ok(found.numbers.every((named) => named === 0));
  assert.equal(namesOf(found).slice(0, 3), ['398 399', '0 1', '0 2']);
  const few = joined(4, [pair(0, 1, 0.5), pair(0, 2, 1), pair(1, 2, 0.7)], [], 2);
  assert.equal(
    [[...few.numbers], namesOf(few)],
    [
      [0, 0, 0, 3],
      ['0 2', '1 2'],
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
