import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteSearch } from './byte-search.js';
import { Random } from './random.js';

test('every mark is found at the start, in the middle and at the end, and no other mark', () => {
  const random = new Random(1);
  const bytesOf = (length: number) => Buffer.from(Array.from({ length }, () => random.below(4)));
  for (let round = 0; round < 200; round++) {
    const marks = new Map<string, Buffer>();
    for (let i = 0; i < 20; i++) marks.set(`mark ${i}`, bytesOf(4 + random.below(4)));
    const text = bytesOf(random.below(400));
    const expected = [...marks].filter(([, mark]) => text.includes(mark)).map(([name]) => name);
    assert.equal(new ByteSearch(marks).namesIn(text).sort(), expected.sort());
    for (const [name, mark] of marks) {
      for (const joined of [
        [mark, text],
        [text, mark],
      ]) {
        assert.ok(new ByteSearch(marks).namesIn(Buffer.concat(joined)).includes(name));
      }
    }
  }
});

test('a mark that is cut off at the end is not found', () => {
  const search = new ByteSearch([['hash', Buffer.from('abcdefgh')]]);
  assert.equal(search.namesIn(Buffer.from('abcdefg')), []);
  assert.equal(search.namesIn(Buffer.from('abcdefabcdefgh')), ['hash']);
  assert.equal(search.namesIn(Buffer.alloc(0)), []);
});

test('a mark of fewer than 4 bytes is refused', () => {
  assert.throws(() => new ByteSearch([['short', Buffer.from('abc')]]), /4 bytes or more/);
});

test.run();
