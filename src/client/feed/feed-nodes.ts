/** Chooses the node that the feed reads from: the first that has not failed since a stream was last current. */
import type { Transport } from '../transport/transport.js';

export class FeedNodes {
  readonly #transports: readonly Transport[];
  readonly #failed = new Set<number>();
  #current = 0;

  constructor(transports: readonly Transport[]) {
    this.#transports = transports;
  }

  get count(): number {
    return this.#transports.length;
  }

  get current(): number {
    return this.#current;
  }

  get transport(): Transport {
    return this.#transports[this.#current]!;
  }

  /** Notes that the stream of the present node is current. */
  succeeded(): void {
    this.#failed.clear();
  }

  /** Moves on after a failure. False if all nodes have failed; the preferred one is then next again. */
  moveOn(): boolean {
    this.#failed.add(this.#current);
    const next = this.#transports.findIndex((_, index) => !this.#failed.has(index));
    if (next < 0) this.#failed.clear();
    this.#current = Math.max(0, next);
    return next >= 0;
  }
}
