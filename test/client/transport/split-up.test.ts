import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { splitUp } from '../../../src/client/transport/split-up.js';

const lengthOf = (text: string) => text.length;

test('parts are as long as both bounds allow, with a comma after each item', () => {
  const bytes3 = ['aaa', 'bbb', 'ccc', 'ddd', 'eee'];
  assert.equal(splitUp(bytes3, 2, 1_000, lengthOf), [['aaa', 'bbb'], ['ccc', 'ddd'], ['eee']]);
  assert.equal(splitUp(bytes3, 9, 12, lengthOf), [
    ['aaa', 'bbb', 'ccc'],
    ['ddd', 'eee'],
  ]);
  assert.equal(splitUp(bytes3, 9, 11, lengthOf), [['aaa', 'bbb'], ['ccc', 'ddd'], ['eee']]);
  assert.equal(splitUp([], 9, 9, lengthOf), []);
});

test('an item beyond the bound of bytes is a part of its own', () => {
  assert.equal(splitUp(['a', 'far too long', 'b'], 9, 6, lengthOf), [['a'], ['far too long'], ['b']]);
});

test.run();
