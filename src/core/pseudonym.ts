/** How a player becomes a subject (specification section 1): the only place where a raw player id is looked at. */
import { hash } from 'node:crypto';
import type { IdentityMode } from './vocabulary.js';

const HASH_LENGTH = 64;
const SUBJECT_BYTES = 32;
const subjectHash = /^[0-9a-f]{64}$/i;

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
