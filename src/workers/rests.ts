/**
 * Short rests of a thread that computes for long beside the one that answers (decision 206). Where both share a core the scheduler gives a thread
 * that never sleeps, at the lowest priority too, a tick of some milliseconds now and then; one that gives way by itself is never due one.
 */

/** Work between two rests, at least, and how long one is asked to be, in ms. The system makes it 0.08: its timers go no finer. */
const WORK_MS = 0.03;
const REST_MS = 0.01;
const REST_TAKES_MS = 0.08;
/** A computation that would take longer with its rests has fewer of them, further apart. */
const WHOLE_MS = 900;
/** Further apart they would be of no use: the scheduler then gives the thread its tick all the same. */
const WORK_MAX_MS = 0.25;

export interface RestClock {
  /** Monotonic, in ms. */
  now(): number;
  /** Blocks the thread for about so many ms. */
  sleep(ms: number): void;
}

export class Rests {
  readonly #clock: RestClock;
  /** Of the last computation, without its rests, and how long one of these took. */
  #workedMs = 0;
  #restTookMs = REST_TAKES_MS;
  /** Of this one: its work between two rests, and how long all may be together. */
  #workMs = 0;
  #leftMs = 0;
  #restedMs = 0;
  #rests = 0;
  #workingSince = 0;

  constructor(clock: RestClock = systemClock) {
    this.#clock = clock;
  }

  /** Runs a computation that may rest: for as long as the last one left room, and over all of it where there is enough. */
  during<T>(compute: () => T): T {
    const started = this.#clock.now();
    const leftMs = Math.max(0, WHOLE_MS - this.#workedMs);
    const spreadMs = (this.#workedMs / leftMs) * this.#restTookMs;
    this.#workMs = Math.min(WORK_MAX_MS, Math.max(WORK_MS, spreadMs));
    this.#leftMs = leftMs;
    this.#restedMs = 0;
    this.#rests = 0;
    this.#workingSince = started;
    try {
      return compute();
    } finally {
      this.#workedMs = this.#clock.now() - started - this.#restedMs;
      if (this.#rests > 0) this.#restTookMs = this.#restedMs / this.#rests;
      this.#leftMs = 0;
    }
  }

  /** Rests where enough was worked since the last time. For a `Scratch`. */
  readonly pause = (): void => {
    if (this.#restedMs >= this.#leftMs) return;
    const now = this.#clock.now();
    if (now - this.#workingSince < this.#workMs) return;
    this.#clock.sleep(REST_MS);
    this.#workingSince = this.#clock.now();
    this.#restedMs += this.#workingSince - now;
    this.#rests++;
  };
}

/** Nobody wakes who sleeps on it. */
const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

const systemClock: RestClock = {
  now: () => performance.now(),
  sleep: (ms) => void Atomics.wait(never, 0, 0, ms),
};
