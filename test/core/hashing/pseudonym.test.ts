/** Subject hashes as section 1 of the specification defines them, of one player and of many at once. */
import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Pseudonyms, pseudonymise, subjectHex } from '../../../src/core/hashing/pseudonym.js';
import { Random } from '../../support/random.js';
import { textsOf } from '../../support/texts.js';

const hash = '0123456789abcdefABCDEF0123456789abcdef0123456789abcdef0123456789';

/** SHA-256 over the bytes of the id and then those of the salt, in hex; an id that is a hash already stays as it is. */
function expected(playerId: string, salt: string): string {
  if (/^[0-9a-f]{64}$/i.test(playerId)) return playerId.toLowerCase();
  return createHash('sha256').update(Buffer.from(playerId)).update(Buffer.from(salt)).digest('hex');
}

function atOnce(pseudonyms: Pseudonyms, playerIds: readonly string[]): string[] {
  const keys = pseudonyms.ofAll(textsOf(playerIds))!;
  return playerIds.map((_, i) => subjectHex(new Uint8Array(keys.buffer, i * 32, 32)));
}

test('a subject is the SHA-256 of id and salt, by itself and among others', () => {
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
  for (let round = 0; round < 500; round++) {
    const few = kinds.slice(random.below(kinds.length));
    const playerIds = Array.from({ length: random.below(60) }, () => few[random.below(few.length)]!());
    const subjects = playerIds.map((playerId) => expected(playerId, salt));
    assert.equal(atOnce(pseudonyms, playerIds), subjects, JSON.stringify(playerIds));
    const alone = playerIds.map((playerId) => subjectHex(pseudonymise(playerId, salt, 'privacy-first')!));
    assert.equal(alone, subjects, JSON.stringify(playerIds));
  }
});

test('a hash that was computed already is used as it is, in either case', () => {
  const pseudonyms = new Pseudonyms('a salt of some bytes', 'high-security');
  assert.equal(atOnce(pseudonyms, [hash, hash.toUpperCase()]), [hash.toLowerCase(), hash.toLowerCase()]);
});

test('where the group says which ids are canonical, only these and hashes have a subject', () => {
  const pseudonyms = new Pseudonyms('a salt of some bytes', 'privacy-first', (id) => id.startsWith('steam:'));
  assert.is(pseudonyms.of('other'), null);
  assert.is(subjectHex(pseudonyms.of('steam:1')!), expected('steam:1', 'a salt of some bytes'));
  assert.is(subjectHex(pseudonyms.of(hash)!), hash.toLowerCase());
});

test('if raw ids are not allowed, one of them refuses the whole read', () => {
  const pseudonyms = new Pseudonyms('a salt of some bytes', 'high-security');
  assert.is(pseudonyms.ofAll(textsOf([hash, 'player'])), null);
  assert.is(pseudonyms.ofAll(textsOf([`${hash.slice(1)}g`])), null);
  assert.is(pseudonyms.of('player'), null);
});

test.run();
