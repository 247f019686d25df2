import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KEY_WORDS, sameKey } from '../../../src/core/columns/packed-keys.js';
import { SubjectIndex } from '../../../src/core/tables/subject-index.js';
import { Random } from '../../support/random.js';

/** Keys each of whose words is their hash. */
class Rows {
  readonly #keys: Uint32Array;

  constructor(readonly hashes: Int32Array) {
    this.#keys = new Uint32Array(hashes.length * KEY_WORDS);
    for (const [row, hash] of hashes.entries()) this.#keys.fill(hash, row * KEY_WORDS, (row + 1) * KEY_WORDS);
  }

  hasKey(row: number, keys: Uint32Array, from: number): boolean {
    return sameKey(this.#keys, row * KEY_WORDS, keys, from);
  }

  homeOf(row: number): number {
    return this.hashes[row]! & 0xffff;
  }

  key(row: number): Uint32Array {
    return this.#keys.slice(row * KEY_WORDS, (row + 1) * KEY_WORDS);
  }
}

/** Hashes of one part of 512, as sorted events come. */
function hashesOf(count: number): Int32Array {
  const random = new Random(count);
  const hashes = new Set<number>();
  while (hashes.size < count) hashes.add((5 << 23) | random.below(1 << 23));
  return Int32Array.from(hashes);
}

test('every key is found in its row, and no other key is, however often a shard grows', () => {
  for (const count of [1, 200, 20_000]) {
    const rows = new Rows(hashesOf(count));
    const index = new SubjectIndex(rows);
    for (let row = 0; row < count; row++) index.insert(row, rows.hashes[row]!);
    for (let row = 0; row < count; row++) {
      const hash = rows.hashes[row]!;
      assert.is(index.find(rows.key(row), 0, hash), row);
      assert.is(index.find(new Uint32Array(KEY_WORDS), 0, hash), -1);
    }
  }
});

test.run();
