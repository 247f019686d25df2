/** A watch over a stream that may fall silent; the clock is that of the client's runtime. */
import type { Runtime } from '../transport/runtime.js';

/** Calls `late` where nothing is heard for as long as was last said. */
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
