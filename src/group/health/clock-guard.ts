/**
 * Decides whether the wall clock is so far ahead that nothing may be written with its time: a single event with such a
 * time would devalue all later evidence until that time has come. It contains only the rule; the clock and earlier
 * times are passed in.
 */
import { limits } from '../../limits.js';
import type { Clock, Timers } from '../ports/clock.js';

export interface ClockGuardDeps {
  readonly clock: Clock;
  /**
   * A monotonic clock that is never set and includes the time during which the machine was suspended: it tells a jump
   * of the wall clock from elapsed time.
   */
  readonly timers: Pick<Timers, 'elapsed'>;
  /** The newest time that was seen before the guard was created; 0 if there is none. */
  readonly seenAt: number;
  /** Called once for each change: the clock went ahead, or is right again. */
  readonly onChange: (ahead: boolean, aheadMs: number) => void;
}

export class ClockGuard {
  readonly #deps: ClockGuardDeps;
  /** The wall clock and the elapsed time at the last check that did not find the wall clock ahead. */
  #rightAt: number;
  #rightElapsed: number;
  /** The newest time of a right clock: a clock that was set back may return to it. */
  #newestAt: number;
  #ahead = false;

  constructor(deps: ClockGuardDeps) {
    this.#deps = deps;
    this.#rightAt = deps.clock.now();
    this.#rightElapsed = deps.timers.elapsed();
    this.#newestAt = Math.max(deps.seenAt, this.#rightAt);
  }

  /** The newest time, in ms since 1970, that a right clock has shown. */
  get newestAt(): number {
    return this.#newestAt;
  }

  get clockAhead(): boolean {
    return this.#ahead;
  }

  /** True if the wall clock is `limits.clockAheadMs` ahead of both the elapsed time and the newest time seen. */
  isAheadNow(): boolean {
    const now = this.#deps.clock.now();
    const elapsed = this.#deps.timers.elapsed();
    const aheadMs = now - Math.max(this.#rightAt + elapsed - this.#rightElapsed, this.#newestAt);
    const ahead = aheadMs > limits.clockAheadMs;
    if (!ahead) {
      this.#rightAt = now;
      this.#rightElapsed = elapsed;
      this.#newestAt = Math.max(this.#newestAt, now);
    }
    if (ahead !== this.#ahead) {
      this.#ahead = ahead;
      this.#deps.onChange(ahead, aheadMs);
    }
    return ahead;
  }
}

/**
 * Returns the reason why a node must not run at `now`; null if it may. `seenAt` is the newest time in the log or of an
 * earlier run of the node, 0 if there is none. `acceptedUntil` is the operator's assurance that the clock was right up
 * to then.
 */
export function clockProblem(now: number, seenAt: number, acceptedUntil: number | null): string | null {
  const isAhead = seenAt > 0 && now - seenAt > limits.clockAheadMs;
  if (!isAhead || (acceptedUntil !== null && now <= acceptedUntil)) return null;
  const [is, was] = [now, seenAt].map((at) => new Date(at).toISOString());
  return `the clock shows ${is}, more than a day ahead of the newest time in the data folder, ${was}`;
}
