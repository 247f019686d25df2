/** Provides the local token of a sidecar: a given one, or one that is generated once and stored. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { bounds } from '../../client/bounds.js';
import { secretInFile } from '../config/peer-file.js';
import { wrongUsage } from '../peer-error.js';

/** Creates the token if there is no file. Throws `wrong_usage` for a file that other users may read. */
export async function tokenIn(path: string): Promise<string> {
  return checkToken(await secretInFile(path, () => randomBytes(32).toString('base64url')), path);
}

/** Returns the token. Throws `wrong_usage` if it is too short or a header cannot carry it. */
export function checkToken(token: string, where: string): string {
  if (!/^[\x21-\x7e]{16,}$/.test(token) || token.length > bounds.sidecarTokenLength) {
    throw wrongUsage(`${where} must have 16 to ${bounds.sidecarTokenLength} printable characters without blanks`);
  }
  return token;
}

/** Returns a test for the token, whose time does not depend on the tested text. */
export function tokenTest(token: string): (text: string) => boolean {
  const expected = hash('sha256', token, 'buffer');
  return (text) => timingSafeEqual(hash('sha256', text, 'buffer'), expected);
}
