/** The text of a list: its line breaks and its encoding. */
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { PeerError } from '../../src/peer/peer-error.js';
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
  const wider = Buffer.from([...'list'].flatMap((letter) => [letter.charCodeAt(0), 0, 0, 0]));
  for (const bytes of [wider, Buffer.from(wider).swap32()]) {
    assert.is(decodeList(bytes).encoding, 'utf-8', 'zeros at even and at odd places');
  }
});

test('a mark decides the encoding, however few or foreign characters follow', () => {
  const marked = (mark: number[], body: Uint8Array) => {
    const { text, encoding } = decodeList(Buffer.concat([Buffer.from(mark), body]));
    return [encoding, text];
  };
  for (const text of ['', 'id', 'Игрок €']) {
    const wide = Buffer.from(text, 'utf16le');
    assert.equal(marked([0xff, 0xfe], wide), ['utf-16le', text]);
    assert.equal(marked([0xfe, 0xff], Buffer.from(wide).swap16()), ['utf-16be', text]);
    assert.equal(marked([0xef, 0xbb, 0xbf], Buffer.from(text)), ['utf-8', text]);
  }
  // A mark excludes Windows-1252, and two of its three bytes are no mark.
  assert.equal(marked([0xef, 0xbb, 0xbf], Buffer.from([0xe9, 0x0a])), ['utf-8', '\ufffd\n']);
  assert.equal(marked([0xef, 0xbb], Buffer.from([0x78, 0x0a])), ['windows-1252', 'ï»x\n']);
  assert.equal(marked([0xff, 0x78], Buffer.alloc(0)), ['windows-1252', 'ÿx']);
  assert.equal(marked([0xfe, 0x78], Buffer.alloc(0)), ['windows-1252', 'þx']);
});

test('a compressed list is refused by that name, with what to do', () => {
  assert.throws(
    () => decodeList(gzipSync('steam_id\n')),
    ({ exitCode, message }: PeerError) => exitCode === 4 && /compressed with gzip: unpack it with gunzip/.test(message),
  );
});

test.run();
