/** Repeats a timed call beside other work of the process, for its 99th percentile. */
import { setTimeout as delay } from 'node:timers/promises';
import { at, Latencies } from './latency.js';

export class RepeatedCall {
  readonly #latencies = new Latencies();
  readonly #running: Promise<void>;
  #isOver = false;

  /** `call` resolves to its duration, ms. The next call follows after a pause. */
  constructor(call: () => Promise<number>, pauseMs: number) {
    this.#running = this.#repeat(call, pauseMs);
    // `p99Ms` reports the error.
    this.#running.catch(() => undefined);
  }

  /** Ends the calls. Resolves to their 99th percentile. */
  async p99Ms(): Promise<number> {
    this.#isOver = true;
    await this.#running;
    return at(this.#latencies.summary(), 99) / 1000;
  }

  async #repeat(call: () => Promise<number>, pauseMs: number): Promise<void> {
    while (!this.#isOver) {
      this.#latencies.record(await call());
      await delay(pauseMs);
    }
  }
}
