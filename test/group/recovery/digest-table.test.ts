/** A table of digests does what a map of them does. */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DigestTable } from '../../../src/group/recovery/rewritten.js';
import { Random } from '../../support/random.js';

const digestOf = (text: string) => hash('sha256', text);

/** Numbers in use, of which most of the time so many fill several runs of rows. */
const NUMBERS = 3_000;
/** Beyond 32 bits, as sequence numbers may be. */
const BASE = 2 ** 40;

function assertSame(table: DigestTable, map: ReadonlyMap<number, string>): void {
  for (let seq = BASE - 1; seq <= BASE + NUMBERS; seq++) {
    const digest = map.get(seq);
    assert.is(table.has(seq), digest !== undefined, `${seq - BASE}`);
    assert.is(table.holds(seq, digest ?? digestOf('other')), digest !== undefined, `${seq - BASE}`);
    assert.is(table.holds(seq, digestOf('other')), false);
  }
}

test('a table contains the same as a map after sets and deletions in any order', () => {
  for (let seed = 0; seed < 4; seed++) {
    const random = new Random(seed);
    const table = new DigestTable();
    const map = new Map<number, string>();
    // It fills, and empties again.
    for (const deletions of [2, 5, 9]) {
      for (let i = 0; i < 12_000; i++) {
        const seq = BASE + random.below(NUMBERS);
        if (random.below(10) < deletions) {
          table.delete(seq);
          map.delete(seq);
        } else {
          const digest = digestOf(`${i}`);
          table.set(seq, digest);
          map.set(seq, digest);
        }
        if (i % 1_000 === 0) assert.is(table.first, map.size === 0 ? undefined : Math.min(...map.keys()));
      }
      assertSame(table, map);
    }
    for (const seq of map.keys()) table.delete(seq);
    assertSame(table, new Map());
    assert.is(table.first, undefined);
  }
});

test('numbers in their order, forwards and backwards, are found and go again', () => {
  for (const step of [1, -1]) {
    const table = new DigestTable();
    const map = new Map<number, string>();
    for (let i = 0; i < NUMBERS; i++) {
      const seq = BASE + (step > 0 ? i : NUMBERS - 1 - i);
      map.set(seq, digestOf(`${seq}`));
      table.set(seq, digestOf(`${seq}`));
    }
    assertSame(table, map);
    for (let i = 0; i < NUMBERS; i++) {
      assert.is(table.first, BASE + i);
      table.delete(BASE + i);
    }
    assert.is(table.first, undefined);
  }
});

test.run();
