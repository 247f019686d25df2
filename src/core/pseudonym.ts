/** How a player becomes a subject (specification section 1): the only place where a raw player id is looked at. */
import { hash } from 'node:crypto';
import { subjectWords } from './event-columns.js';
import { BLOCKS_MAX, blocksOf, LANES, Sha256Lanes } from './sha256-lanes.js';
import type { IdentityMode } from './vocabulary.js';
import { KEY_WORDS } from './words.js';

const HASH_LENGTH = 64;
const SUBJECT_BYTES = 32;
const subjectHash = /^[0-9a-f]{64}$/i;

/** Beyond every hexadecimal digit. */
const NO_DIGIT = 0x80;

/** Whether a text is a subject hash: 64 hex characters, in either case. */
function isSubjectHash(text: string): boolean {
  return text.length === HASH_LENGTH && subjectHash.test(text);
}

/** The 32 bytes of a subject hash in hex. */
export function subjectBytes(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex');
}

export function subjectHex(subject: Uint8Array): string {
  return Buffer.from(subject.buffer, subject.byteOffset, subject.byteLength).toString('hex');
}

/**
 * SHA-256(UTF-8(player id) + UTF-8(salt)), or the hash itself where the peer made it already. The id has no lone surrogate.
 * Null where the mode lets no raw identity token travel.
 */
export function pseudonymise(playerId: string, salt: string, mode: IdentityMode): Uint8Array | null {
  if (isSubjectHash(playerId)) return subjectBytes(playerId);
  return mode === 'high-security' ? null : digestBytes(hash('sha256', playerId + salt, 'binary'));
}

/** By hand from a string of a character per byte: twice as fast as asking for a buffer, and by a third as through hex. */
function digestBytes(digest: string): Uint8Array {
  const bytes = new Uint8Array(SUBJECT_BYTES);
  for (let i = 0; i < SUBJECT_BYTES; i++) bytes[i] = digest.charCodeAt(i);
  return bytes;
}

/** The pseudonyms of a group. */
export class Pseudonyms {
  readonly #salt: string;
  readonly #mode: IdentityMode;
  readonly #saltedHashes: SaltedHashes;

  constructor(salt: string, mode: IdentityMode) {
    this.#salt = salt;
    this.#mode = mode;
    this.#saltedHashes = new SaltedHashes(salt);
  }

  /** See `pseudonymise`. */
  of(playerId: string): Uint8Array | null {
    return pseudonymise(playerId, this.#salt, this.#mode);
  }

  /** The same of many at once, as little-endian words, `KEY_WORDS` each; null where it is of one of them. */
  ofAll(playerIds: readonly string[]): Uint32Array | null {
    const keys = new Uint32Array(playerIds.length * KEY_WORDS);
    for (let i = 0; i < playerIds.length; i++) {
      const playerId = playerIds[i]!;
      if (playerId.length === HASH_LENGTH && readHex(playerId, keys, i * KEY_WORDS)) continue;
      if (this.#mode === 'high-security') return null;
      this.#saltedHashes.add(playerId, keys, i * KEY_WORDS);
    }
    this.#saltedHashes.finish(keys);
    return keys;
  }
}

/** The values of hexadecimal digits by their ASCII code. */
const hexDigits = new Uint8Array(128).fill(NO_DIGIT);
for (let i = 0; i < 16; i++) {
  const digit = i.toString(16);
  hexDigits[digit.charCodeAt(0)] = i;
  hexDigits[digit.toUpperCase().charCodeAt(0)] = i;
}

/** Writes a subject hash to `to` of a column, as little-endian words. False where the text is none; then the words mean nothing. */
function readHex(text: string, words: Uint32Array, to: number): boolean {
  let seen = 0;
  for (let w = 0; w < KEY_WORDS; w++) {
    let word = 0;
    for (let i = 0; i < 8; i++) {
      const unit = text.charCodeAt(w * 8 + i);
      const digit = hexDigits[unit & 0x7f]!;
      seen |= digit | (unit & ~0x7f);
      // The first digit of a byte is its upper half.
      word |= digit << ((i ^ 1) * 4);
    }
    words[to + w] = word;
  }
  return seen < NO_DIGIT;
}

/** SHA-256 of ids with one salt behind each, as many at a time as there are lanes; a third of the time of one after the other. */
class SaltedHashes {
  readonly #salt: string;
  readonly #saltBytes: Uint8Array;
  readonly #lanes = new Sha256Lanes();
  /** Behind an id of which length a lane has the salt already: most platforms' ids are of one length. 0 for none. */
  readonly #lengths = new Uint16Array(LANES);
  /** Where the digests of the filled lanes go. */
  readonly #places = new Uint32Array(LANES);
  #filled = 0;
  /** Of the messages of the filled lanes. */
  #blocks = 0;

  constructor(salt: string) {
    this.#salt = salt;
    this.#saltBytes = Buffer.from(salt);
  }

  /** Writes the hash of an id to `to` of a column, now or when others are added to the same column, or it is finished. */
  add(playerId: string, keys: Uint32Array, to: number): void {
    const blocks = blocksOf(playerId.length + this.#saltBytes.length);
    if (this.#filled > 0 && blocks !== this.#blocks) this.finish(keys);
    if (blocks > BLOCKS_MAX || !this.#write(playerId)) {
      subjectWords(digestBytes(hash('sha256', playerId + this.#salt, 'binary')), keys, to);
      return;
    }
    this.#blocks = blocks;
    this.#places[this.#filled++] = to;
    if (this.#filled === LANES) this.finish(keys);
  }

  finish(keys: Uint32Array): void {
    if (this.#filled === 0) return;
    this.#lanes.digest(this.#blocks);
    for (let lane = 0; lane < this.#filled; lane++) this.#lanes.read(lane, keys, this.#places[lane]!);
    this.#filled = 0;
  }

  /** Whether the next lane holds the id with the salt now. */
  #write(playerId: string): boolean {
    const lane = this.#filled;
    const { length } = playerId;
    if (!this.#lanes.writeAscii(lane, playerId)) {
      this.#lengths[lane] = 0;
      return false;
    }
    if (this.#lengths[lane] !== length) this.#lanes.writeEnd(lane, length, this.#saltBytes);
    this.#lengths[lane] = length;
    return true;
  }
}
