/**
 * Short rests of a thread that computes for long beside the one that answers (decision 206). Where both share a core the scheduler gives a thread
 * that never sleeps, at the lowest priority too, a tick of some milliseconds now and then; one that gives way by itself is never due one.
 */

/** Work between two rests, and how long one is asked to be, in ms. The system makes it 0.09: its timers go no finer. */
const WORK_MS = 0.06;
const REST_MS = 0.02;
/** A computation that would take longer with its rests has fewer of them, or none. */
const WHOLE_MS = 900;
/** Rests that would be shorter, as a part of the work, cover too little of it to be felt. */
const RESTS_MIN = 1 / 2;

export interface RestClock {
  /** Monotonic, in ms. */
  now(): number;
  /** Blocks the thread for about so many ms. */
  sleep(ms: number): void;
}

export class Rests {
  readonly #clock: RestClock;
  /** Of the last computation, without its rests. */
  #workedMs = 0;
  /** So long may all rests of this one be. */
  #leftMs = 0;
  #restedMs = 0;
  #workingSince = 0;

  constructor(clock: RestClock = systemClock) {
    this.#clock = clock;
  }

  /** Runs a computation that may rest: as long as the last one left room for. */
  during<T>(compute: () => T): T {
    const started = this.#clock.now();
    const leftMs = WHOLE_MS - this.#workedMs;
    this.#leftMs = leftMs < this.#workedMs * RESTS_MIN ? 0 : leftMs;
    this.#restedMs = 0;
    this.#workingSince = started;
    try {
      return compute();
    } finally {
      this.#workedMs = this.#clock.now() - started - this.#restedMs;
      this.#leftMs = 0;
    }
  }

  /** Rests where enough was worked since the last time. For a `Scratch`. */
  readonly pause = (): void => {
    if (this.#restedMs >= this.#leftMs) return;
    const now = this.#clock.now();
    if (now - this.#workingSince < WORK_MS) return;
    this.#clock.sleep(REST_MS);
    this.#workingSince = this.#clock.now();
    this.#restedMs += this.#workingSince - now;
  };
}

/** Nobody wakes who sleeps on it. */
const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

const systemClock: RestClock = {
  now: () => performance.now(),
  sleep: (ms) => void Atomics.wait(never, 0, 0, ms),
};
