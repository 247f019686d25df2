/** Parts that the reader of the stream waits with: a watch over silence, and a promise that is settled from outside. */
import type { Runtime } from '../transport/runtime.js';

/** Calls `late` where nothing is heard for as long as was last said. */
export class Watch {
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

export interface PromiseWithResolve {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

export function withResolve(): PromiseWithResolve {
  let resolve: () => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  // Whoever waits sees the rejection; where nobody does, it is no fault.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
