/** Creates ids for requests without one. They only have to differ from each other and from those of other runs. */
import { randomBytes } from 'node:crypto';

const run = randomBytes(12).toString('base64url');
/** The last two digits of numbers in base 36. The digits before them are written once per block. */
const lastDigits = Array.from({ length: 36 ** 2 }, (_, n) => n.toString(36).padStart(2, '0'));
let count = 0;
let prefix = '';

/** Returns a new id. Needs no randomness, so it takes a small part of the time of a UUID. */
export function newRequestId(): string {
  const last = count % lastDigits.length;
  if (last === 0) prefix = `${run}.${Math.floor(count / lastDigits.length).toString(36)}`;
  count++;
  return prefix + lastDigits[last];
}
