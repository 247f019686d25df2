/** The ids of requests that came without one. They only have to differ, from each other and from those of other runs. */
import { randomBytes } from 'node:crypto';

const run = randomBytes(12).toString('base64url');
let count = 0;

/** A new id: a tenth of the time of a UUID, which this need not be. */
export function newRequestId(): string {
  count++;
  return `${run}.${count.toString(36)}`;
}
