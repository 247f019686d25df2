/** Computes subject hashes on the game server, so that no raw account id needs to leave it. */
import * as crypto from 'node:crypto';
import { bounds } from '../bounds.js';
import { invalidArgument, type TrustError } from '../trust-error.js';

/** Half of a surrogate pair: a string with one has no UTF-8 form that could be hashed. */
const loneSurrogate = /\p{Surrogate}/u;

/** Control characters and invisible ones: a player id with one looks like another player's. */
const unseen = /[\p{Cc}\p{Cf}]/u;
const outerBlank = /^\s|\s$/;

const subjectPattern = /^[0-9a-f]{64}$/i;

/**
 * The subject hash of a player: `SHA-256(UTF-8(id) followed by UTF-8(salt))`, in lower-case hexadecimal. The id is the
 * platform's account id or, in a group of high security, the verified identity token; the salt is the group's.
 * `docs/subject-hash-vectors.json` holds test vectors for implementations in other languages. An id of 64 hexadecimal
 * characters counts as a hash and is not hashed again. One final line break of the salt is removed; a salt that begins
 * or ends with another blank throws `invalid_argument`. @public
 */
export function subjectHash(id: string, salt: string): string {
  return hashOf(id, secretText('salt', salt));
}

function hashOf(id: string, salt: string): string {
  if (isSubjectHash(id)) return id.toLowerCase();
  return crypto.hash('sha256', id + salt, 'hex');
}

/** True if a text is a subject hash: 64 hexadecimal characters, in either case. @public */
export function isSubjectHash(text: string): boolean {
  return text.length === 64 && subjectPattern.test(text);
}

/**
 * Returns the text that is sent for a player id: the subject hash if the client has the salt, else the id itself.
 * Throws `invalid_argument` for an invalid id: ids of up to 128 characters are sent, and the length of a hashed id is
 * bounded by the needs of identity tokens. Neither may contain characters that the node refuses.
 */
export function sentId(playerId: string, groupSalt: string | undefined): string {
  if (typeof playerId !== 'string' || playerId === '') throw invalid('must be a non-empty string');
  if (loneSurrogate.test(playerId)) throw invalid('must not contain half of a surrogate pair');
  if (unseen.test(playerId)) throw invalid('must not contain a control or an invisible character');
  if (outerBlank.test(playerId)) throw invalid('must not begin or end with a blank');
  if (groupSalt !== undefined) {
    if (playerId.length > bounds.hashedIdLength)
      throw invalid(`must have at most ${bounds.hashedIdLength} UTF-16 units`);
    return hashOf(playerId, groupSalt);
  }
  if (playerId.length > 2 * bounds.playerIdLength || [...playerId].length > bounds.playerIdLength) {
    throw invalid(`must have at most ${bounds.playerIdLength} characters`);
  }
  return isSubjectHash(playerId) ? playerId.toLowerCase() : playerId;
}

function invalid(text: string): TrustError {
  return invalidArgument(`a player id ${text}`);
}

/**
 * Returns the secret without one final line break, which editors and `echo` add. Throws `invalid_argument` for any
 * other surrounding blank: the other holders of the secret may not have it, and a salt that differs by one blank makes
 * every player unknown.
 */
export function secretText(name: string, text: string): string {
  if (typeof text !== 'string') throw invalidArgument(`${name} must be a string; read its file as UTF-8`);
  const secret = text.replace(/\r?\n$/, '');
  if (secret === secret.trim()) return secret;
  throw invalidArgument(
    `${name} must not begin or end with a blank or a line break; only one final line break is removed`,
  );
}
