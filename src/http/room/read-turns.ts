/** Lets long work of readers take turns by holder: one piece runs in each turn of the event loop. */
import { FairQueue } from '../../core/fair-queue.js';
import type { Holder } from '../../group/ports/pool.js';

export class ReadTurns {
  readonly #queue = new FairQueue<Holder, () => void>(1, () => 1);

  constructor(private readonly nextTurn: (run: () => void) => void = setImmediate) {}

  next(holder: Holder): Promise<void> {
    if (this.#queue.empty) this.nextTurn(() => this.#begin());
    return new Promise((go) => this.#queue.push(holder, go));
  }

  #begin(): void {
    const go = this.#queue.takeOne();
    if (!this.#queue.empty) this.nextTurn(() => this.#begin());
    go?.();
  }
}
