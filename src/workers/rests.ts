/**
 * How a thread that computes for long gives way to the one that answers, where both share a core (decision 210): it hands the core over after each
 * few hundredths of a millisecond of work, and sleeps for as long as there is time for. One that does neither is given whole ticks of milliseconds by the
 * scheduler, at the lowest priority too.
 */
import type { Partner } from './partner.js';

/** Work between two times that it gives way, at least: what a reader may wait for. Further apart than at most they would be of no use. */
const WORK_MS = 0.03;
const WORK_MAX_MS = 0.25;
/** Of its work: so long giving way may take where no time is left for it, unless it then came too seldom to be of use. */
const GIVE_SHARE = 1 / 16;
/** How far each time moves what is known of it. */
const GIVE_STEP_MS = 0.0005;
/** Between two sleeps. */
const STRETCH_MS = 2;
/** With its sleeps a computation takes no longer than this, where it works no longer by itself. */
const WHOLE_MS = 900;
/** Of the time that it is awake: nobody who has few players waits a second for nothing. */
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
  /** Of the last computation: its work alone, and how long giving way took in all. */
  #workedMs = 0;
  #gaveMs = 0;
  /** What giving way takes, near the median: where others take their turn it is longer, and the better for it. */
  #giveMs = 0;
  /** Of this one: its work between two times that it gives way, and how long a sleep is, and all of them may be together. */
  #workMs = 0;
  #sleepMs = 0;
  #leftMs = 0;
  #isComputing = false;
  #sleptMs = 0;
  #workingSince = 0;
  #awakeSince = 0;

  constructor(clock: RestClock) {
    this.#clock = clock;
  }

  /** Runs a computation that may rest: for as long as the last one left room, and over all of it. */
  during<T>(compute: () => T): T {
    const started = this.#clock.now();
    const share = Math.max(GIVE_SHARE, WHOLE_MS / this.#workedMs - 1);
    this.#workMs = Math.min(WORK_MAX_MS, Math.max(WORK_MS, this.#giveMs / share));
    const awakeMs = this.#workedMs + this.#gaveMs;
    this.#leftMs = Math.max(0, WHOLE_MS - awakeMs);
    this.#sleepMs = STRETCH_MS * Math.min(SLEEP_SHARE_MAX, this.#leftMs / awakeMs);
    this.#gaveMs = 0;
    this.#sleptMs = 0;
    this.#workingSince = started;
    this.#awakeSince = started;
    this.#isComputing = true;
    try {
      return compute();
    } finally {
      this.#isComputing = false;
      this.#workedMs = this.#clock.now() - started - this.#gaveMs - this.#sleptMs;
    }
  }

  /** Rests where enough was worked since the last time. For a `Scratch`. */
  readonly pause = (): void => {
    if (!this.#isComputing) return;
    const now = this.#clock.now();
    if (now - this.#workingSince < this.#workMs) return;
    const sleeps = now - this.#awakeSince >= STRETCH_MS && this.#sleptMs + this.#sleepMs < this.#leftMs;
    if (sleeps) this.#clock.sleep(this.#sleepMs);
    else this.#clock.giveWay();
    this.#workingSince = this.#clock.now();
    const restedMs = this.#workingSince - now;
    if (sleeps) {
      this.#sleptMs += restedMs;
      this.#awakeSince = this.#workingSince;
    } else {
      this.#gaveMs += restedMs;
      this.#giveMs += restedMs > this.#giveMs ? GIVE_STEP_MS : -GIVE_STEP_MS;
    }
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
