/**
 * The moment at which reads see the decay: the end of the running minute, so that a body, and its tag, stays the same for a
 * minute, and no evidence lies behind the read.
 */
import { type Moment, momentOf } from '../core/evidence/decay.js';
import type { GroupState } from '../core/state.js';
import type { Clock } from './ports/clock.js';

const MINUTE_MS = 60_000;

/** Of the minute that `now` is in; both in ms since 1970. */
export function endOfMinute(now: number): number {
  return Math.ceil(now / MINUTE_MS) * MINUTE_MS;
}

export class MinuteMoment {
  readonly #clock: Clock;
  #moment: Moment = { at: Number.NaN, worth: 1 };
  /** The scale for which the factor was computed. */
  #epoch = Number.NaN;
  #halfLifeDays = Number.NaN;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(state: GroupState): Moment {
    const at = endOfMinute(this.#clock.now());
    if (at !== this.#moment.at || state.epoch !== this.#epoch || state.halfLifeDays !== this.#halfLifeDays) {
      this.#moment = momentOf(state, at);
      this.#epoch = state.epoch;
      this.#halfLifeDays = state.halfLifeDays;
    }
    return this.#moment;
  }
}
