/** Detects that a stream has been silent for too long, by the clock of the client's runtime. */
import type { Runtime } from '../transport/time.js';

/** Calls `late` if neither `expectWithin` nor `stop` is called again within the time of the last `expectWithin`. */
export class Silence {
  readonly #runtime: Runtime;
  readonly #late: (ms: number) => void;
  #cancel: () => void = () => undefined;

  constructor(runtime: Runtime, late: (ms: number) => void) {
    this.#runtime = runtime;
    this.#late = late;
  }

  expectWithin(ms: number): void {
    this.#cancel();
    this.#cancel = this.#runtime.after(ms, () => this.#late(ms));
  }

  stop(): void {
    this.#cancel();
  }
}
