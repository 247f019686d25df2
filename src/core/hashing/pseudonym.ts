/** Converts a player id to a subject, a salted SHA-256 (specification section 1). Nothing else sees a raw player id. */
import { hash } from 'node:crypto';
import type { ByteStrings } from '../columns/byte-strings.js';
import { KEY_BYTES, KEY_WORDS } from '../columns/packed-keys.js';
import type { IdentityMode } from '../vocabulary.js';

const HASH_LENGTH = 64;
const subjectHash = /^[0-9a-f]{64}$/i;

/** True if a text is a subject hash: 64 hex characters, in either case. `readHex` applies the same rule to bytes. */
function isSubjectHash(text: string): boolean {
  return text.length === HASH_LENGTH && subjectHash.test(text);
}

export function subjectBytes(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex');
}

export function subjectHex(subject: Uint8Array): string {
  return Buffer.from(subject.buffer, subject.byteOffset, subject.byteLength).toString('hex');
}

/** SHA-256(UTF-8(id) + UTF-8(salt)), or the peer's hash; null if the mode admits no id. No lone surrogates. */
export function pseudonymise(playerId: string, salt: string, mode: IdentityMode): Uint8Array | null {
  if (isSubjectHash(playerId)) return subjectBytes(playerId);
  if (mode === 'high-security') return null;
  const bytes = new Uint8Array(KEY_BYTES);
  writeDigest(playerId + salt, bytes, 0);
  return bytes;
}

function writeDigest(message: string | Uint8Array, bytes: Uint8Array, at: number): void {
  // `crypto.hash` returns a string with one character per byte in half the time that it takes to return a buffer.
  const digest = hash('sha256', message, 'binary');
  for (let i = 0; i < KEY_BYTES; i++) bytes[at + i] = digest.charCodeAt(i);
}

/** Shows clients whether they have the group's salt: 8 hex digits of a SHA-256, which do not help to find it. */
export function saltCheckOf(salt: string): string {
  return hash('sha256', `ptf-salt-check${salt}`, 'hex').slice(0, 8);
}

/** Why a raw player id has no pseudonym: the mode admits none, or the id is not canonical for the group's kinds. */
export function refusalOfRawIds(mode: IdentityMode): 'subject_hash_required' | 'player_id_not_canonical' {
  return mode === 'high-security' ? 'subject_hash_required' : 'player_id_not_canonical';
}

export type IsCanonical = (playerId: string) => boolean;

export class Pseudonyms {
  readonly saltCheck: string;
  readonly #salt: string;
  readonly #mode: IdentityMode;
  readonly #isCanonical: IsCanonical | null;
  readonly #saltBytes: Uint8Array;
  /** The last hashed id, followed by the salt. Reused, because most ids of a platform have the same length. */
  #message: Uint8Array = new Uint8Array(0);

  /** @param isCanonical - null if the group's ids are opaque. */
  constructor(salt: string, mode: IdentityMode, isCanonical: IsCanonical | null = null) {
    this.#salt = salt;
    this.saltCheck = saltCheckOf(salt);
    this.#mode = mode;
    this.#isCanonical = isCanonical;
    this.#saltBytes = Buffer.from(salt);
  }

  /** See `pseudonymise`. Also null if the id is not canonical. */
  of(playerId: string): Uint8Array | null {
    if (this.#isCanonical?.(playerId) === false && !isSubjectHash(playerId)) return null;
    return pseudonymise(playerId, this.#salt, this.#mode);
  }

  /** Pseudonyms of many ids as little-endian words, `KEY_WORDS` for each; null if one of the ids has none. */
  ofAll(playerIds: ByteStrings): Uint32Array | null {
    const keys = new Uint32Array(playerIds.count * KEY_WORDS);
    return this.writeAll(playerIds, keys) ? keys : null;
  }

  /** Writes the pseudonyms of many ids to a column. False if one has none; then the words mean nothing. */
  writeAll(playerIds: ByteStrings, keys: Uint32Array): boolean {
    const bytes = new Uint8Array(keys.buffer, keys.byteOffset, keys.byteLength);
    for (let i = 0; i < playerIds.count; i++) {
      if (playerIds.length(i) === HASH_LENGTH && readHex(playerIds.bytes, playerIds.start(i), keys, i * KEY_WORDS))
        continue;
      if (this.#mode === 'high-security') return false;
      if (this.#isCanonical?.(playerIds.text(i)) === false) return false;
      writeDigest(this.#messageOf(playerIds, i), bytes, i * KEY_BYTES);
    }
    return true;
  }

  /** Bytes of id `i` and of the salt, valid until the next call. Hashing strings takes four times as long. */
  #messageOf(playerIds: ByteStrings, i: number): Uint8Array {
    const { bytes } = playerIds;
    const start = playerIds.start(i);
    const length = playerIds.length(i);
    let message = this.#message;
    if (message.length !== length + this.#saltBytes.length) {
      message = new Uint8Array(length + this.#saltBytes.length);
      message.set(this.#saltBytes, length);
      this.#message = message;
    }
    for (let k = 0; k < length; k++) message[k] = bytes[start + k]!;
    return message;
  }
}

const NO_DIGIT = 0x80;

const hexDigits = new Uint8Array(256).fill(NO_DIGIT);
for (let i = 0; i < 16; i++) {
  const digit = i.toString(16);
  hexDigits[digit.charCodeAt(0)] = i;
  hexDigits[digit.toUpperCase().charCodeAt(0)] = i;
}

/** Writes the subject hash at `from` to a column, as little-endian words. False if the bytes are no such hash. */
function readHex(bytes: Uint8Array, from: number, words: Uint32Array, to: number): boolean {
  let seen = 0;
  for (let w = 0; w < KEY_WORDS; w++) {
    let word = 0;
    for (let i = 0; i < 8; i++) {
      const digit = hexDigits[bytes[from + w * 8 + i]!]!;
      seen |= digit;
      // The first digit of a byte is its upper half.
      word |= digit << ((i ^ 1) * 4);
    }
    words[to + w] = word;
  }
  return seen < NO_DIGIT;
}
