/** How a player becomes a subject on the game server's side, so that no raw account id needs to leave it. */
import { hash } from 'node:crypto';

/** Half of a surrogate pair: such a string has no UTF-8 form to hash. */
export const loneSurrogate = /\p{Surrogate}/u;

const subjectPattern = /^[0-9a-f]{64}$/i;

/**
 * The subject hash of a player: `SHA-256(UTF-8(id) followed by UTF-8(salt))`, in lower-case hexadecimal. The id is the platform's account id or, in a
 * group of high security, the verified identity token; the salt is the group's. `docs/subject-hash-vectors.json` holds test vectors for
 * implementations in other languages. An id of 64 hexadecimal characters is taken as a hash that was made already.
 * @public
 */
export function subjectHash(id: string, salt: string): string {
  if (isSubjectHash(id)) return id.toLowerCase();
  return hash('sha256', id + salt, 'hex');
}

/**
 * Whether a text is a subject hash: 64 hexadecimal characters, in either case.
 * @public
 */
export function isSubjectHash(text: string): boolean {
  return text.length === 64 && subjectPattern.test(text);
}
