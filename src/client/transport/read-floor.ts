/** Remembers how far this client has read the log, to refuse an answer that is certainly older (`X-Applied-Seq`). */
import { bounds } from '../bounds.js';
import type { Runtime } from './time.js';
import type { TransportResponse } from './transport.js';

export class ReadFloor {
  #seq = 0;
  /** Time by `elapsedMs`. */
  #heldUntil = 0;

  constructor(private readonly runtime: Runtime) {}

  /** Notes an answer that includes all records up to `seq`. */
  note(seq: number): void {
    const now = this.runtime.elapsedMs();
    if (seq < this.#seq && now < this.#heldUntil) return;
    this.#seq = seq;
    this.#heldUntil = now + bounds.readFloorMs;
  }

  /** True if an answer up to `seq` is no step back. A floor expires, because a restored cluster begins further back. */
  admits(seq: number): boolean {
    return seq >= this.#seq || this.runtime.elapsedMs() >= this.#heldUntil;
  }
}

/** Bounds of the log record that the node had applied when it answered; undefined if it does not say. */
export function appliedSeqOf(response: TransportResponse) {
  const value = response.header('x-applied-seq');
  if (value === undefined || !/^\d{1,15}$/.test(value)) return undefined;
  const least = Number(value);
  return { least, most: least + 10 ** Math.max(0, String(least).length - 2) - 1 };
}
