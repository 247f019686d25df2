/** Nonces of turns: made ahead, given once. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Nonces } from '../../../src/group/actor/nonces.js';

function drawn() {
  const asked: number[] = [];
  const bytes = (count: number) => {
    asked.push(count);
    return new Uint8Array(count).fill(asked.length);
  };
  return { asked, nonces: new Nonces({ bytes, uuid: () => 'id' }) };
}

test('a nonce is used once, whether it was made in advance or not', () => {
  const { nonces } = drawn();
  const given: number[] = [];
  for (let turn = 0; turn < 6; turn++) {
    if (turn % 2 === 0) nonces.prepare();
    given.push(nonces.next()[0]!);
  }
  assert.equal(given, [1, 2, 3, 4, 5, 6]);
});

test('one at most is made ahead', () => {
  const { asked, nonces } = drawn();
  nonces.prepare();
  nonces.prepare();
  assert.is(asked.length, 1);
  nonces.next();
  assert.is(asked.length, 1);
});

test.run();
