/** Why a group lets nothing in, or not this. */
import { type Refusal, refused } from '../errors.js';
import { limits } from '../limits.js';

/** Nothing is let in: not yet, or no more. */
export function notThere(): Refusal {
  return refused('dependency_unavailable');
}

export function overloaded(): Refusal {
  return refused('overloaded');
}

/** The clock is ahead of the time that passed: `clock-guard.ts`. */
export function clockAhead(): Refusal {
  const text = 'the clock of this node jumped ahead: reads are answered, writes are not';
  const details = { reason: 'clock_ahead' };
  return refused('dependency_unavailable', { text, details, retryAfterS: limits.diskRetryAfterS });
}

export function diskLow(): Refusal {
  const text = 'the disk of this node is nearly full: reads are answered, writes are not';
  const details = { reason: 'disk_low' };
  return refused('dependency_unavailable', { text, details, retryAfterS: limits.diskRetryAfterS });
}
