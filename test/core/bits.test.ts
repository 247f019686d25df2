import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Bits, PeerPairs } from '../../src/core/bits.js';

test('a set contains exactly the added strings, wherever they are in memory', () => {
  const bits = new Bits();
  const numbers = [0, 7, 8, 524_287, 524_288, 3_000_000_001];
  for (const number of numbers) bits.add(number);
  for (const number of numbers) assert.ok(bits.has(number), `${number}`);
  for (const number of [1, 6, 9, 524_286, 524_289, 3_000_000_000, 4_000_000_000])
    assert.not(bits.has(number), `${number}`);
});

test('a set of pairs of peers contains exactly the added pairs, whichever peer is named first', () => {
  const pairs = new PeerPairs();
  const added = new Set(['0 0', '0 1', '3 7', '2 65534']);
  for (const pair of added) {
    const [j, k] = pair.split(' ').map(Number);
    pairs.add(k!, j!);
  }
  for (const j of [0, 1, 2, 3, 7]) {
    for (const k of [0, 1, 2, 3, 7, 8, 65_534]) {
      const isAdded = added.has(`${Math.min(j, k)} ${Math.max(j, k)}`);
      assert.equal([pairs.has(j, k), pairs.has(k, j)], [isAdded, isAdded], `${j} ${k}`);
    }
  }
});

test.run();
