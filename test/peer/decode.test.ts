/** The text of a list: its line breaks and its encoding. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeList } from '../../src/peer/sources/decode.js';

test('a long text in any encoding has plain line breaks, and a cut character at its end is left out', () => {
  for (const shift of ['', 'x', 'xy']) {
    const lines = (end: string) => shift + `Игрок €😀${end}`.repeat(120_000);
    const bytes = Buffer.from(lines('\r\n'));
    const { text, encoding } = decodeList(bytes);
    assert.is(encoding, 'utf-8');
    assert.ok(text === lines('\n'));
    assert.ok(decodeList(Buffer.from(lines('\r'))).text === text);
    const cut = decodeList(Buffer.concat([bytes, Buffer.from([0xe9])]));
    assert.is(cut.encoding, 'utf-8');
    assert.ok(cut.text === text);
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
