/** Keys of players as words of a column. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { copyKey, sameKey } from '../../../src/core/columns/packed-keys.js';

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

test.run();
