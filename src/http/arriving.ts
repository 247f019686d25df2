/**
 * Batches whose bodies are on their way in. While the node is overloaded only so many are taken in at a time: the rest is refused
 * by its head, and its body dropped piece by piece, since bodies that lie about half read make the collector of garbage work
 * for tens of milliseconds. One that takes long no longer counts, or slow callers could keep the others out. What all of them
 * may hold is bounded at all times, so that whoever fills that keeps further batches out until its requests are late.
 */
import { limits } from '../limits.js';

/** One that is on its way in; `since` by `performance.now()`. */
export interface Arriving {
  readonly since: number;
  /** Of its body, by its own account. */
  readonly bytes: number;
}

export class ArrivingBatches {
  readonly #all = new Set<Arriving>();
  #bytes = 0;
  /** Oldest first. */
  readonly #counted = new Set<Arriving>();

  /** One more, or undefined where there are too many. */
  begin(now: number, overloaded: boolean, bytes: number): Arriving | undefined {
    for (const one of this.#counted) {
      if (now - one.since < limits.arrivingMs) break;
      this.#counted.delete(one);
    }
    if (overloaded && this.#counted.size >= limits.batchesArriving) return undefined;
    if (this.#bytes + bytes > limits.arrivingBytes) return undefined;
    const arriving = { since: now, bytes };
    this.#counted.add(arriving);
    this.#all.add(arriving);
    this.#bytes += bytes;
    return arriving;
  }

  /** It is there, or will never be. */
  end(arriving: Arriving): void {
    this.#counted.delete(arriving);
    if (this.#all.delete(arriving)) this.#bytes -= arriving.bytes;
  }
}
