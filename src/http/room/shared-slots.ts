/** Runs a bounded number of tasks at a time; others wait in turn by holder. */
import { FairQueue } from '../../core/fair-queue.js';
import type { Holder } from '../../group/ports/pool.js';

export class SharedSlots {
  readonly #waiting = new FairQueue<Holder, () => void>(1, () => 1);
  #free: number;

  constructor(slots: number) {
    this.#free = slots;
  }

  async run<R>(holder: Holder, task: () => R | Promise<R>): Promise<R> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((begin) => this.#waiting.push(holder, begin));
    try {
      return await task();
    } finally {
      const next = this.#waiting.takeOne();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
