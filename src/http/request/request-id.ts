/**
 * The ids of requests that came without one. They only have to differ, from each other and from those of other runs.
 */
import { randomBytes } from 'node:crypto';

const run = randomBytes(12).toString('base64url');
/** Of numbers in base 36 the last two digits; those before are written once for all of them. */
const lastDigits = Array.from({ length: 36 ** 2 }, (_, n) => n.toString(36).padStart(2, '0'));
let count = 0;
let prefix = '';

/** A new id: in a small part of the time of a UUID, which this need not be. */
export function newRequestId(): string {
  const last = count % lastDigits.length;
  if (last === 0) prefix = `${run}.${Math.floor(count / lastDigits.length).toString(36)}`;
  count++;
  return prefix + lastDigits[last];
}
