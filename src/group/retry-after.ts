/** Computes the `Retry-After` header of a refusal, alike for every HTTP server of the node. */
import { errors, type Refusal } from '../errors.js';
import { limits } from '../limits.js';

/** Returns the seconds of `Retry-After`; undefined if the status (other than 429 and 503) does not have the header. */
export function retryAfterOf({ code, retryAfterS }: Refusal): number | undefined {
  const { status } = errors[code];
  return status === 429 || status === 503 ? (retryAfterS ?? limits.retryAfterS) : undefined;
}
