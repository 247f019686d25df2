/**
 * How far into the log this client has read already, whichever node answered. A node of a cluster says with
 * `X-Applied-Seq` how far it is; an answer from further back is refused, so that reads of one client never go back in
 * time where the client can tell.
 */
import { bounds } from '../bounds.js';
import type { Runtime } from './runtime.js';
import type { TransportResponse } from './transport.js';

export class ReadFloor {
  readonly #runtime: Runtime;
  #seq = 0;
  /** By `elapsedMs`. */
  #heldUntil = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Something was read that holds all records up to `seq`. */
  note(seq: number): void {
    const now = this.#runtime.elapsedMs();
    if (seq < this.#seq && now < this.#heldUntil) return;
    this.#seq = seq;
    this.#heldUntil = now + bounds.readFloorMs;
  }

  /**
   * Whether an answer that holds all records up to `seq` is no step back. A floor that no answer has reached for
   * `readFloorMs` holds no longer: a restored cluster begins further back.
   */
  admits(seq: number): boolean {
    return seq >= this.#seq || this.#runtime.elapsedMs() >= this.#heldUntil;
  }
}

/** The log record up to which the node had applied when it answered; undefined where it does not say. */
export function appliedSeqOf(response: TransportResponse): number | undefined {
  const value = response.header('x-applied-seq');
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
