/**
 * Whether the wall clock is so far ahead that nothing may be written by it: one event with such a time would devalue
 * all evidence that comes after it, until that time has come. It holds the rule; the clock and the times that were seen
 * before come in as arguments.
 */
import { limits } from '../../limits.js';
import type { Clock, Timers } from '../ports/clock.js';

export interface ClockGuardDeps {
  readonly clock: Clock;
  /**
   * Runs forward only, is never set, and counts the time in which the machine was suspended: it tells a jump of the
   * wall clock from time that passed.
   */
  readonly timers: Pick<Timers, 'elapsed'>;
  /** The newest time that was seen before the guard was made; 0 for none. */
  readonly seenAt: number;
  /** The clock went ahead, or is right again; told once for each change. */
  readonly onChange: (ahead: boolean, aheadMs: number) => void;
}

/** Of a running node. */
export class ClockGuard {
  readonly #deps: ClockGuardDeps;
  /** The wall clock and the elapsed time at the last look that found both in step. */
  #rightAt: number;
  #rightElapsed: number;
  /** The newest time that was seen of a clock that was right: one that was set back may return to it. */
  #newestAt: number;
  #ahead = false;

  constructor(deps: ClockGuardDeps) {
    this.#deps = deps;
    this.#rightAt = deps.clock.now();
    this.#rightElapsed = deps.timers.elapsed();
    this.#newestAt = Math.max(deps.seenAt, this.#rightAt);
  }

  /** The newest time, in ms since 1970, that a clock which was right has shown. */
  get newestAt(): number {
    return this.#newestAt;
  }

  /** What the last look found. */
  get clockAhead(): boolean {
    return this.#ahead;
  }

  /**
   * Looks now. True where the wall clock is more than `limits.clockAheadMs` ahead both of what it would be by the time
   * that passed, and of the newest time that was seen.
   */
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
 * Why a node may not run at `now`; null where it may. `seenAt` is the newest time that the log or an earlier run of the
 * node holds, 0 for none. `acceptedUntil` is the operator's word that the clock was right up to then.
 */
export function clockProblem(now: number, seenAt: number, acceptedUntil: number | null): string | null {
  const isAhead = seenAt > 0 && now - seenAt > limits.clockAheadMs;
  if (!isAhead || (acceptedUntil !== null && now <= acceptedUntil)) return null;
  const [is, was] = [now, seenAt].map((at) => new Date(at).toISOString());
  return `the clock says ${is}, more than a day ahead of the newest time in the data folder, ${was}`;
}
