/** Computes `Retry-After` of a refusal for each server. */
import { errors, type Refusal } from '../errors.js';
import { limits } from '../limits.js';

/**
 * Seconds, if the status of the refusal (429, 503) has the header; the default of `limits` if the refusal names none.
 */
export function retryAfterOf({ code, retryAfterS }: Refusal): number | undefined {
  const { status } = errors[code];
  return status === 429 || status === 503 ? (retryAfterS ?? limits.retryAfterS) : undefined;
}
