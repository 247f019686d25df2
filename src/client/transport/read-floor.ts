/**
 * Remembers how far this client has read the log, whichever node answered. A node of a cluster reports its position in
 * `X-Applied-Seq`, cut to two digits; an answer that is certainly from an earlier position is refused.
 */
import { bounds } from '../bounds.js';
import type { Runtime } from './time.js';
import type { TransportResponse } from './transport.js';

export class ReadFloor {
  readonly #runtime: Runtime;
  #seq = 0;
  /** Time by `elapsedMs`. */
  #heldUntil = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Notes an answer that includes all records up to `seq`. */
  note(seq: number): void {
    const now = this.#runtime.elapsedMs();
    if (seq < this.#seq && now < this.#heldUntil) return;
    this.#seq = seq;
    this.#heldUntil = now + bounds.readFloorMs;
  }

  /**
   * True if an answer that includes all records up to `seq` is no step back. A floor that no answer has reached for
   * `readFloorMs` expires, because a restored cluster begins further back.
   */
  admits(seq: number): boolean {
    return seq >= this.#seq || this.#runtime.elapsedMs() >= this.#heldUntil;
  }
}

/**
 * Bounds of the log record up to which the node had applied when it answered; undefined if the node does not say.
 */
export function appliedSeqOf(
  response: TransportResponse,
): { readonly least: number; readonly most: number } | undefined {
  const value = response.header('x-applied-seq');
  if (value === undefined || !/^\d{1,15}$/.test(value)) return undefined;
  const least = Number(value);
  return { least, most: least + 10 ** Math.max(0, String(least).length - 2) - 1 };
}
