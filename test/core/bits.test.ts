import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Bits } from '../../src/core/bits.js';

test('a set contains exactly the added strings, wherever they are in memory', () => {
  const bits = new Bits();
  const numbers = [0, 7, 8, 524_287, 524_288, 3_000_000_001];
  for (const number of numbers) bits.add(number);
  for (const number of numbers) assert.ok(bits.has(number), `${number}`);
  for (const number of [1, 6, 9, 524_286, 524_289, 3_000_000_000, 4_000_000_000])
    assert.not(bits.has(number), `${number}`);
});

test.run();
