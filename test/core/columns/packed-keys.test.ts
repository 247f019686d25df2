/** Keys of players as words of a column. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { copyKey, encodeKey, readKey, sameKey } from '../../../src/core/columns/packed-keys.js';

const WORDS = 8;

test('two keys are the same only if every word is', () => {
  const one = Uint32Array.from({ length: 2 * WORDS }, (_, i) => i + 1);
  const other = new Uint32Array(3 * WORDS);
  copyKey(one, WORDS, other, 2 * WORDS);
  assert.ok(sameKey(one, WORDS, other, 2 * WORDS));
  for (let word = 0; word < WORDS; word++) {
    const changed = other.slice();
    changed[2 * WORDS + word]!++;
    assert.not(sameKey(one, WORDS, changed, 2 * WORDS), `word ${word}`);
    assert.not(sameKey(changed, 2 * WORDS, one, WORDS), `word ${word}`);
  }
});

test('a key is read from the bytes that it is written to, wherever they begin', () => {
  const words = Uint32Array.from({ length: WORDS }, (_, i) => 0x01020304 * (i + 1));
  const view = new DataView(new ArrayBuffer(4 * WORDS + 3));
  encodeKey(words, 0, view, 3);
  assert.is(view.getUint8(3), 4, 'little-endian');
  const read = new Uint32Array(WORDS + 1);
  readKey(view, 3, read, 1);
  assert.equal(read.subarray(1), words);
});

test.run();
