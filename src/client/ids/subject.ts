/** How a player becomes a subject on the game server's side, so that no raw account id needs to leave it. */
import * as crypto from 'node:crypto';
import { bounds } from '../bounds.js';
import { TrustError } from '../trust-error.js';
import { secretText } from './secret.js';

/** Half of a surrogate pair: such a string has no UTF-8 form to hash. */
const loneSurrogate = /\p{Surrogate}/u;

/** Control characters and invisible ones: a player id that holds one looks like another player's. */
const unseen = /[\p{Cc}\p{Cf}]/u;
const outerBlank = /^\s|\s$/;

const subjectPattern = /^[0-9a-f]{64}$/i;

/**
 * The subject hash of a player: `SHA-256(UTF-8(id) followed by UTF-8(salt))`, in lower-case hexadecimal. The id is the
 * platform's account id or, in a group of high security, the verified identity token; the salt is the group's.
 * `docs/subject-hash-vectors.json` holds test vectors for implementations in other languages. An id of 64 hexadecimal
 * characters is taken as a hash that was made already. One final line break of the salt is removed; a salt that begins
 * or ends with another blank throws `invalid_argument`.
 * @public
 */
export function subjectHash(id: string, salt: string): string {
  return hashOf(id, secretText('salt', salt));
}

function hashOf(id: string, salt: string): string {
  if (isSubjectHash(id)) return id.toLowerCase();
  return crypto.hash('sha256', id + salt, 'hex');
}

/**
 * Whether a text is a subject hash: 64 hexadecimal characters, in either case.
 * @public
 */
export function isSubjectHash(text: string): boolean {
  return text.length === 64 && subjectPattern.test(text);
}

/**
 * What travels of a player id: the subject hash where the client has the salt, else the id itself. Throws
 * `invalid_argument` where it is none: 1 to 128 characters travel, and what is hashed here is bounded by what an
 * identity token may need. Neither may hold what the node refuses.
 */
export function sentId(playerId: string, groupSalt: string | undefined): string {
  if (typeof playerId !== 'string' || playerId === '') throw invalid('must be a string that is not empty');
  if (loneSurrogate.test(playerId)) throw invalid('holds half of a character');
  if (unseen.test(playerId)) throw invalid('must not hold a control or an invisible character');
  if (outerBlank.test(playerId)) throw invalid('must not begin or end with a blank');
  if (groupSalt !== undefined) {
    if (playerId.length > bounds.hashedIdLength) throw invalid(`takes at most ${bounds.hashedIdLength} UTF-16 units`);
    return hashOf(playerId, groupSalt);
  }
  if (playerId.length > 2 * bounds.playerIdLength || [...playerId].length > bounds.playerIdLength) {
    throw invalid(`takes at most ${bounds.playerIdLength} characters`);
  }
  return isSubjectHash(playerId) ? playerId.toLowerCase() : playerId;
}

function invalid(text: string): TrustError {
  return new TrustError('invalid_argument', `a player id ${text}`);
}
