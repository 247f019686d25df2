import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KEY_WORDS, sameKey } from '../../../src/core/columns/packed-keys.js';
import { SubjectIndex } from '../../../src/core/tables/subject-index.js';
import { Random } from '../../support/random.js';

/** Keys each of whose words is their hash, and how often a row's hash was asked for, as a shard does that grows. */
class Rows {
  readonly #keys: Uint32Array;
  asked = 0;

  constructor(readonly hashes: Int32Array) {
    this.#keys = new Uint32Array(hashes.length * KEY_WORDS);
    for (const [row, hash] of hashes.entries()) this.#keys.fill(hash, row * KEY_WORDS, (row + 1) * KEY_WORDS);
  }

  hasKey(row: number, keys: Uint32Array, from: number): boolean {
    return sameKey(this.#keys, row * KEY_WORDS, keys, from);
  }

  homeOf(row: number): number {
    this.asked++;
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

function takeIn(index: SubjectIndex, rows: Rows, from: number, end: number): void {
  for (let row = from; row < end; row++) index.insert(row, rows.hashes[row]!);
}

for (const count of [1, 200, 2000, 20_000]) {
  test(`room is made for ${count} keys at once, so that hardly a shard grows while they come`, () => {
    const hashes = hashesOf(count);
    const rows = new Rows(hashes);
    const index = new SubjectIndex(rows);
    // Players come again.
    const coming = Int32Array.from([...hashes, ...hashes]);
    const found = new Int32Array(coming.length);
    index.makeRoom(coming, found, coming.length);
    assert.ok(found.every((row) => row === -1));
    takeIn(index, rows, 0, count);
    const byAndBy = new Rows(hashes);
    takeIn(new SubjectIndex(byAndBy), byAndBy, 0, count);
    assert.ok(rows.asked <= byAndBy.asked / 10, `${rows.asked} rows read to grow, ${byAndBy.asked} without`);
    for (let row = 0; row < count; row++) assert.is(index.find(rows.key(row), 0, hashes[row]!), row);
    rows.asked = 0;
    index.makeRoom(coming, found, coming.length);
    assert.is(rows.asked, 0, 'no room is made for keys that are there');
    assert.ok(found.every((row) => row >= 0));
  });
}

test('room is made for additions to the present rows', () => {
  const hashes = hashesOf(6000);
  const asked = [true, false].map((isMade) => {
    const rows = new Rows(hashes);
    const index = new SubjectIndex(rows);
    takeIn(index, rows, 0, 1000);
    rows.asked = 0;
    if (isMade) {
      index.makeRoom(hashes, new Int32Array(6000), 6000);
      assert.is(rows.asked, 1000, 'each shard grows once');
    }
    takeIn(index, rows, 1000, 6000);
    for (let row = 0; row < 6000; row++) assert.is(index.find(rows.key(row), 0, hashes[row]!), row);
    return rows.asked;
  });
  // A hash alone does not tell all keys from those that are there.
  assert.ok(asked[0]! <= asked[1]! / 2, `${asked[0]} rows read to grow, ${asked[1]} without`);
});

test.run();
