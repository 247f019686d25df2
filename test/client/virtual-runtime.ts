/** Time and chance in a test's own hands: the clock stands until it is moved, and moves to the next timer at once. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Runtime } from '../../src/client/transport/time.js';
import { Random } from '../support/random.js';

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

export class VirtualRuntime implements Runtime {
  /** 2026-01-01, by the wall clock. */
  readonly #start = 1_767_225_600_000;
  readonly #random: Random;
  #elapsedMs = 0;
  #timers: Timer[] = [];
  #uuids = 0;
  /** How far the wall clock was set since, or went on while the machine slept. */
  wallSetMs = 0;
  /** Fixes the dice where it is set. */
  dice: number | undefined;
  /** The pauses that were waited through, in ms. */
  readonly waited: number[] = [];

  constructor(seed = 1) {
    this.#random = new Random(seed);
  }

  now(): number {
    return this.#start + this.#elapsedMs + this.wallSetMs;
  }

  elapsedMs(): number {
    return this.#elapsedMs;
  }

  random(): number {
    return this.dice ?? this.#random.next();
  }

  uuid(): string {
    this.#uuids++;
    return `00000000-0000-4000-8000-${String(this.#uuids).padStart(12, '0')}`;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#elapsedMs + ms, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  }

  get timers(): number {
    return this.#timers.length;
  }

  /** Moves the clock, timer by timer. */
  async advance(ms: number): Promise<void> {
    const until = this.#elapsedMs + ms;
    for (;;) {
      await turn();
      const next = this.#next();
      if (next === undefined || next.at > until) break;
      this.#fire(next);
    }
    this.#elapsedMs = until;
    await turn();
  }

  /** Moves the clock from timer to timer until the work is done, and gives its result. */
  async until<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    work.then(done, done);
    // Work on real files takes as long as the disk does, so this bound is by a real clock.
    const giveUpMs = performance.now() + 60_000;
    while (performance.now() < giveUpMs) {
      await turn();
      if (isDone) return work;
      const next = this.#next();
      if (next !== undefined) this.#fire(next);
    }
    throw new Error('the work waits for something that never comes');
  }

  #next(): Timer | undefined {
    return this.#timers.reduce<Timer | undefined>(
      (first, timer) => (first && first.at <= timer.at ? first : timer),
      undefined,
    );
  }

  #fire(timer: Timer): void {
    this.#timers = this.#timers.filter((one) => one !== timer);
    this.waited.push(timer.at - this.#elapsedMs);
    this.#elapsedMs = Math.max(this.#elapsedMs, timer.at);
    timer.run();
  }
}
