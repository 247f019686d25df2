/** Pseudonyms of many players at once are those of each alone. */
import { spawnSync } from 'node:child_process';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ManyHashes, sharedLanes } from '../../src/core/many-hashes.js';
import { Pseudonyms, pseudonymise, subjectHex } from '../../src/core/pseudonym.js';
import { BLOCKS_MAX } from '../../src/core/sha256-lanes.js';
import { Random } from '../support/random.js';
import { textsOf } from '../support/texts.js';

const hash = '0123456789abcdefABCDEF0123456789abcdef0123456789abcdef0123456789';

/** Of each by itself, in hex. */
function oneByOne(playerIds: readonly string[], salt: string): string[] {
  return playerIds.map((playerId) => subjectHex(pseudonymise(playerId, salt, 'privacy-first')!));
}

function atOnce(pseudonyms: Pseudonyms, playerIds: readonly string[]): string[] {
  const keys = pseudonyms.ofAll(textsOf(playerIds))!;
  return playerIds.map((_, i) => subjectHex(new Uint8Array(keys.buffer, i * 32, 32)));
}

test('there are lanes: without them the rest here would hold the library against itself', () => {
  assert.ok(sharedLanes() !== null);
});

test('hashes of two kinds must not be mixed in the lanes', () => {
  const [one, other] = ['one', 'other'].map((salt) => new ManyHashes(Buffer.alloc(0), Buffer.from(salt))) as [
    ManyHashes,
    ManyHashes,
  ];
  const words = new Uint32Array(16);
  one.add(textsOf(['a']), 0, words, 0);
  other.add(textsOf(['b']), 0, words, 8);
  assert.throws(() => one.finish(words), /somebody else/);
  other.finish(words);
});

test('ids and salts of every length, in one block and in many', () => {
  for (let bytes = 16; bytes <= 130; bytes++) {
    const salt = 's'.repeat(bytes);
    const pseudonyms = new Pseudonyms(salt, 'privacy-first');
    const playerIds = Array.from({ length: 128 }, (_, i) => `${'player'.repeat(22).slice(0, i)}${i % 10}`);
    assert.equal(atOnce(pseudonyms, playerIds), oneByOne(playerIds, salt), `${bytes} bytes of salt`);
  }
});

test('a salt that no lane has room for', () => {
  for (const blocks of [BLOCKS_MAX - 1, BLOCKS_MAX, BLOCKS_MAX + 1]) {
    const salt = 's'.repeat(blocks * 64 - 20);
    const playerIds = ['1', '12345678901', '123456789012', '5'.repeat(100), '7'];
    assert.equal(atOnce(new Pseudonyms(salt, 'privacy-first'), playerIds), oneByOne(playerIds, salt), `${blocks}`);
  }
});

test('ids of all kinds after each other, with what one leaves to the next', () => {
  const random = new Random(41);
  const salt = 'a salt, \u00e4 \ud83d\ude00';
  const pseudonyms = new Pseudonyms(salt, 'privacy-first');
  const kinds = [
    () => String(10 ** 16 + random.below(10 ** 9)),
    () => 'x'.repeat(1 + random.below(128)),
    () => `\u00e9${'y'.repeat(random.below(100))}`,
    () => `${'z'.repeat(random.below(100))}\ud83c\udfae`,
    () => hash,
    () => hash.replace('0', 'g'),
    () => hash.replace('0', '\u0130'),
  ];
  for (let round = 0; round < 2000; round++) {
    const few = kinds.slice(random.below(kinds.length));
    const playerIds = Array.from({ length: random.below(60) }, () => few[random.below(few.length)]!());
    assert.equal(atOnce(pseudonyms, playerIds), oneByOne(playerIds, salt), JSON.stringify(playerIds));
  }
});

test('a hash that was made already is taken as it is, in either case', () => {
  const pseudonyms = new Pseudonyms('a salt of some bytes', 'high-security');
  assert.equal(atOnce(pseudonyms, [hash, hash.toUpperCase()]), [hash.toLowerCase(), hash.toLowerCase()]);
});

test('where raw ids must not travel, one of them refuses all', () => {
  const pseudonyms = new Pseudonyms('a salt of some bytes', 'high-security');
  assert.is(pseudonyms.ofAll(textsOf([hash, 'player'])), null);
  assert.is(pseudonyms.ofAll(textsOf([`${hash.slice(1)}g`])), null);
  assert.is(pseudonyms.of('player'), null);
});

test('where there are no lanes, hashes are made one after the other', () => {
  // Without a compiler V8 has no WebAssembly.
  const program = `
    import { Pseudonyms, pseudonymise } from ${JSON.stringify(new URL('../../src/core/pseudonym.js', import.meta.url).href)};
    import { textsOf } from ${JSON.stringify(new URL('../support/texts.js', import.meta.url).href)};
    if (typeof WebAssembly !== 'undefined') throw new Error('there are lanes');
    const ids = ['7656119', 'a', 'é'];
    const keys = new Pseudonyms('a salt of some bytes', 'privacy-first').ofAll(textsOf(ids));
    const one = ids.map((id) => Buffer.from(pseudonymise(id, 'a salt of some bytes', 'privacy-first')));
    process.stdout.write(String(Buffer.concat(one).equals(Buffer.from(keys.buffer))));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--jitless', '--input-type=module', '-e', program]);
  assert.is(stdout.toString(), 'true', stderr.toString());
});

test.run();
