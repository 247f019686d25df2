/** Subject hashes against the published vectors, on both sides of the wire. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { normalizedFor, normalizePlayerId } from '../../../src/client/ids/normalize.js';
import { isSubjectHash, sentId, subjectHash } from '../../../src/client/ids/subject.js';
import { Pseudonyms, pseudonymise, subjectHex } from '../../../src/core/hashing/pseudonym.js';
import { limits } from '../../../src/limits.js';
import { characterViolation } from '../../../src/validation/identifiers.js';
import { textsOf } from '../../support/texts.js';

interface Vector {
  readonly id: string;
  readonly salt: string;
  readonly subject_hash: string;
  readonly note: string;
}

const file = new URL('../../../../docs/subject-hash-vectors.json', import.meta.url);
const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { vectors: readonly Vector[] };

test('there are vectors, each of another kind', () => {
  assert.ok(vectors.length >= 10);
  assert.is(new Set(vectors.map(({ note }) => note)).size, vectors.length);
});

for (const { id, salt, subject_hash, note } of vectors) {
  test(`client and node agree with the vector: ${note}`, () => {
    assert.is(subjectHash(id, salt), subject_hash);
    assert.is(subjectHex(pseudonymise(id, salt, 'privacy-first')!), subject_hash);
    const keys = new Pseudonyms(salt, 'privacy-first').ofAll(textsOf([id]))!;
    assert.is(subjectHex(new Uint8Array(keys.buffer)), subject_hash);
  });
}

test('only 64 hexadecimal characters are a subject hash', () => {
  assert.ok(isSubjectHash('0123456789abcdefABCDEF0123456789abcdef0123456789abcdef0123456789'));
  for (const text of ['', 'a'.repeat(63), 'a'.repeat(65), 'g'.repeat(64), `${'a'.repeat(63)}\n`]) {
    assert.not.ok(isSubjectHash(text), text);
  }
});

test('the client refuses the characters in a player id that the node refuses, hashed or not', () => {
  const parts = [...'a \u0000\n\u0085\u00a0\u00ad\u200b\u2028\ufeff,', '\ud83d', '\ude00'];
  for (let n = 0; n < parts.length ** 3; n++) {
    const id = [n, n / parts.length, n / parts.length ** 2]
      .map((place) => parts[Math.floor(place) % parts.length])
      .join('');
    const isRefused = characterViolation(id) !== undefined;
    for (const salt of [undefined, 'a salt of sixteen bytes']) {
      const send = () => sentId(id, salt);
      if (isRefused) assert.throws(send, /a player id (must not|holds)/, JSON.stringify(id));
      else assert.type(send(), 'string');
    }
  }
});

test('without a salt an id is sent as it is, and a subject hash in lower case', () => {
  assert.is(sentId('Player One', undefined), 'Player One');
  assert.is(sentId('AB'.repeat(32), undefined), 'ab'.repeat(32));
});

test('an id that is sent has at most 128 characters, of one unit or of two', () => {
  for (const one of ['x', '𝕏']) {
    assert.is(sentId(one.repeat(bounds.playerIdLength), undefined), one.repeat(bounds.playerIdLength));
    for (const more of [1, 2, bounds.playerIdLength, 2 * bounds.playerIdLength]) {
      assert.throws(() => sentId(one.repeat(bounds.playerIdLength + more), undefined), /at most 128 characters/);
    }
  }
});

test('a group of kinds takes an id in its one spelling, and subject hashes as they are', () => {
  assert.is(normalizedFor(['steam'], 'STEAM_0:1:40'), '76561197960265809');
  assert.throws(() => normalizedFor(['steam'], 'Player One'), /this is not a player id/);
  for (const kinds of [null, undefined]) assert.is(normalizedFor(kinds, 'STEAM_0:1:40'), 'STEAM_0:1:40');
  assert.is(normalizedFor(['steam'], 'AB'.repeat(32)), 'AB'.repeat(32));
  assert.throws(() => normalizePlayerId(7 as never), /a player id must be a string/);
});

test('the bounds that the client shares with the service are the same', () => {
  assert.is(bounds.scoresPerCall, limits.matchIdsMax);
  assert.is(bounds.eventsPerCall, limits.batchEventsMax);
  assert.is(bounds.playerIdLength, limits.playerIdLength);
  assert.is(bounds.eventIdLength, limits.eventIdLength);
  assert.is(bounds.saltBytesMin, limits.saltBytesMin);
  assert.is(bounds.spoolEventBytes, limits.eventBodyBytes);
  assert.ok(bounds.idsBytes < limits.headBytes && bounds.batchBytes < limits.batchBodyBytes);
  assert.ok(bounds.keepAliveMs < limits.keepAliveTimeoutMs);
});

test.run();
