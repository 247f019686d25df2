/** Short texts side by side are what was put in, one by one or all at once. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteStrings } from '../../../src/core/columns/byte-strings.js';
import { Random } from '../../support/random.js';

const separator = ',';

const textsIn = (texts: ByteStrings): string[] => Array.from({ length: texts.count }, (_, i) => texts.text(i));

test('a text is split exactly at its separators, whatever is beside them', () => {
  const random = new Random(3);
  const texts = new ByteStrings();
  // Neighbours of the separator, and what differs from it in one bit.
  const characters = [separator, separator, '+', '-', 'l', 'h', '(', '$', '\u007f', '\u0000', '7'];
  for (let n = 0; n < 20_000; n++) {
    const joined = Array.from({ length: random.below(40) }, () => characters[random.below(characters.length)]!).join(
      '',
    );
    texts.clear();
    texts.pushSplit(joined, separator);
    assert.equal(textsIn(texts), joined.split(separator));
  }
});

test('texts are put in one after the other, by themselves and split, and more than there is room for', () => {
  const texts = new ByteStrings();
  const all = ['Žofie', '🎮', ''];
  for (const text of all) texts.push(text);
  const ids = Array.from({ length: 1000 }, (_, i) => `player-${i}`);
  texts.pushSplit(ids.join(separator), separator);
  assert.equal(textsIn(texts), [...all, ...ids]);
  assert.is(texts.length(1), 4);
});

test.run();
