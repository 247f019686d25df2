/**
 * Decides whether the wall clock is so far ahead that nothing may be written: a single event with such a time would
 * devalue all later evidence until that time has come.
 */
import { limits } from '../../limits.js';
import type { Clock, Timers } from '../ports/clock.js';

export interface ClockGuardDeps {
  readonly clock: Clock;
  /** Never set, and includes the time of a suspended machine: tells a jump of the wall clock from elapsed time. */
  readonly timers: Pick<Timers, 'elapsed'>;
  /** The newest time of earlier runs; 0 if there is none. */
  readonly seenAt: number;
  /** Called once for each change: the clock went ahead, or is right again. */
  readonly onChange: (ahead: boolean, aheadMs: number) => void;
}

export class ClockGuard {
  /** At the last check that did not find the wall clock ahead. */
  #rightAt: number;
  #rightElapsed: number;
  /** The newest time of a right clock: a clock that was set back may return to it. */
  newestAt: number;
  clockAhead = false;

  constructor(private readonly deps: ClockGuardDeps) {
    this.#rightAt = deps.clock.now();
    this.#rightElapsed = deps.timers.elapsed();
    this.newestAt = Math.max(deps.seenAt, this.#rightAt);
  }

  /** True if the wall clock is `limits.clockAheadMs` ahead of both the elapsed time and the newest time seen. */
  isAheadNow(): boolean {
    const now = this.deps.clock.now();
    // Not every turn reads the elapsed time, which takes longer than to decide an event.
    if (!this.clockAhead && now >= this.newestAt && now - this.#rightAt < limits.elapsedReadMs) {
      this.newestAt = now;
      return false;
    }
    const elapsed = this.deps.timers.elapsed();
    const aheadMs = now - Math.max(this.#rightAt + elapsed - this.#rightElapsed, this.newestAt);
    const ahead = aheadMs > limits.clockAheadMs;
    if (!ahead) {
      this.#rightAt = now;
      this.#rightElapsed = elapsed;
      this.newestAt = Math.max(this.newestAt, now);
    }
    if (ahead !== this.clockAhead) {
      this.clockAhead = ahead;
      this.deps.onChange(ahead, aheadMs);
    }
    return ahead;
  }
}

/**
 * Returns why a node must not run at `now`. `seenAt` is the newest time in the log or of an earlier run, 0 for none.
 * `acceptedUntil`: the operator's assurance that the clock was right up to then.
 */
export function clockProblem(now: number, seenAt: number, acceptedUntil: number | null): string | null {
  const isAhead = seenAt > 0 && now - seenAt > limits.clockAheadMs;
  if (!isAhead || (acceptedUntil !== null && now <= acceptedUntil)) return null;
  const [is, was] = [now, seenAt].map((at) => new Date(at).toISOString());
  return `the clock shows ${is}, more than a day ahead of the newest time in the data folder, ${was}`;
}
