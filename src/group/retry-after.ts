/** When whoever was refused may come again, for each server that tells it. */
import { errors, type Refusal } from '../errors.js';
import { limits } from '../limits.js';

/** Seconds, where the refusal's status (429, 503) asks for them; those of `limits` where it names none of its own. */
export function retryAfterOf({ code, retryAfterS }: Refusal): number | undefined {
  const { status } = errors[code];
  return status === 429 || status === 503 ? (retryAfterS ?? limits.retryAfterS) : undefined;
}
