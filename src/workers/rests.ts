/**
 * How a thread that computes for long gives way to the one that answers, where both share a core (decisions 206 and 210): it hands the core over after each
 * few hundredths of a millisecond of work, and sleeps for as long as there is time for.
 */
import type { Partner } from './partner.js';

/** Work between two times that it gives way, at least: what a reader may wait for. */
const WORK_MS = 0.03;
/** Between two sleeps. */
const STRETCH_MS = 2;
/** With its sleeps a computation takes no longer than this, where it works no longer by itself. */
const WHOLE_MS = 900;
/** Of the time that it works: nobody who has few players waits a second for nothing. */
const SLEEP_SHARE_MAX = 3;
/** The system makes it 0.1: its timers go no finer. */
const SHORT_SLEEP_MS = 0.01;

export interface RestClock {
  /** Monotonic, in ms. */
  now(): number;
  /** Lets go first whoever else wants the core. */
  giveWay(): void;
  /** Blocks the thread for about so many ms. */
  sleep(ms: number): void;
}

export class Rests {
  readonly #clock: RestClock;
  /** Of the last computation, without its sleeps. */
  #workedMs = 0;
  /** Of this one: how long each sleep is, and how long all of them may be together. */
  #sleepMs = 0;
  #leftMs = 0;
  #sleptMs = 0;
  #isComputing = false;
  #workingSince = 0;
  #awakeSince = 0;

  constructor(clock: RestClock) {
    this.#clock = clock;
  }

  /** Runs a computation that may rest: for as long as the last one left room, and over all of it. */
  during<T>(compute: () => T): T {
    const started = this.#clock.now();
    this.#leftMs = Math.max(0, WHOLE_MS - this.#workedMs);
    this.#sleepMs = STRETCH_MS * Math.min(SLEEP_SHARE_MAX, this.#leftMs / this.#workedMs);
    this.#sleptMs = 0;
    this.#workingSince = started;
    this.#awakeSince = started;
    this.#isComputing = true;
    try {
      return compute();
    } finally {
      this.#isComputing = false;
      this.#workedMs = this.#clock.now() - started - this.#sleptMs;
    }
  }

  /** Rests where enough was worked since the last time. For a `Scratch`. */
  readonly pause = (): void => {
    if (!this.#isComputing) return;
    const now = this.#clock.now();
    if (now - this.#workingSince < WORK_MS) return;
    if (now - this.#awakeSince < STRETCH_MS || this.#sleptMs + this.#sleepMs >= this.#leftMs) {
      this.#clock.giveWay();
      this.#workingSince = this.#clock.now();
      return;
    }
    this.#clock.sleep(this.#sleepMs);
    this.#awakeSince = this.#clock.now();
    this.#workingSince = this.#awakeSince;
    this.#sleptMs += this.#awakeSince - now;
  };
}

/** Nobody wakes who sleeps on it. */
const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Of the system. Without its partner a thread sleeps for a moment in place of handing over. */
export function restsByPartner(partner: Partner): RestClock {
  const sleep = (ms: number) => void Atomics.wait(never, 0, 0, ms);
  return {
    now: () => performance.now(),
    giveWay: () => {
      if (!partner.handOver()) sleep(SHORT_SLEEP_MS);
    },
    sleep,
  };
}
