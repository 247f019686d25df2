/**
 * Computes the time to which reads decay evidence: the end of the present minute. The body of a response and its ETag
 * then stay the same for a minute, and no evidence is newer than the read.
 */
import { type AsOf, asOfTime } from '../core/evidence/decay.js';
import type { GroupState } from '../core/state.js';
import type { Clock } from './ports/clock.js';

const MINUTE_MS = 60_000;

/** Returns the end of the minute of `now`; both in ms since 1970. */
export function endOfMinute(now: number): number {
  return Math.ceil(now / MINUTE_MS) * MINUTE_MS;
}

export class MinuteAsOf {
  readonly #clock: Clock;
  #asOf: AsOf = { at: Number.NaN, decayFactor: 1 };
  /** The scale for which the factor was computed. */
  #epoch = Number.NaN;
  #halfLifeDays = Number.NaN;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(state: GroupState): AsOf {
    const at = endOfMinute(this.#clock.now());
    if (at !== this.#asOf.at || state.epoch !== this.#epoch || state.halfLifeDays !== this.#halfLifeDays) {
      this.#asOf = asOfTime(state, at);
      this.#epoch = state.epoch;
      this.#halfLifeDays = state.halfLifeDays;
    }
    return this.#asOf;
  }
}
