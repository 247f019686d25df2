/** Cleans the text of a secret that was typed or read from a file, as the node does (`secretOf` in `variables.ts`). */
import { invalidArgument } from '../trust-error.js';

/**
 * Returns the secret without one final line break, which editors and `echo` add. Throws `invalid_argument` for any
 * other surrounding blank: the other holders of the secret may not have it, and a salt that differs by one blank makes
 * every player unknown.
 */
export function secretText(name: string, text: string): string {
  if (typeof text !== 'string') {
    throw invalidArgument(`${name} must be a string; read its file as UTF-8`);
  }
  const secret = text.replace(/\r?\n$/, '');
  if (secret === secret.trim()) return secret;
  throw invalidArgument(
    `${name} must not begin or end with a blank or a line break; only one final line break is removed`,
  );
}
