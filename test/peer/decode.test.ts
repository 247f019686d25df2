/** The text of a list: its line breaks, its encoding and where it is in memory. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeList } from '../../src/peer/sources/decode.js';

test('a long text in any encoding is outside of the heap, and its line breaks are those of each piece', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // Shifts the line breaks over the ends of the pieces in which the text is decoded.
  for (const shift of ['', 'x', 'xy']) {
    const lines = (end: string) => shift + `Игрок €😀${end}`.repeat(120_000);
    const bytes = Buffer.from(lines('\r\n'));
    collect();
    const before = process.memoryUsage().heapUsed;
    const { text, encoding } = decodeList(bytes);
    collect();
    assert.ok(process.memoryUsage().heapUsed - before < text.length / 2);
    assert.is(encoding, 'utf-8');
    assert.ok(text === lines('\n'));
    assert.ok(decodeList(Buffer.from(lines('\r'))).text === text);
    assert.is(decodeList(Buffer.concat([bytes, Buffer.from([0xe9])])).encoding, 'utf-8', 'a cut character');
    const latin = decodeList(Buffer.concat([Buffer.from([0xe9, 0x0a]), bytes]));
    assert.equal([latin.encoding, latin.text.slice(0, 2)], ['windows-1252', 'é\n']);
  }
});

test('the zeros of UTF-16 without a mark count from eight bytes on', () => {
  const wide = Buffer.from('list', 'utf16le');
  assert.is(decodeList(wide).encoding, 'utf-16le');
  assert.is(decodeList(Buffer.from(wide).swap16()).encoding, 'utf-16be');
  assert.is(decodeList(wide.subarray(0, 6)).encoding, 'utf-8');
});

test.run();
