/**
 * Remembers the signatures accepted within the time window, so that none is accepted twice: the first 6 bytes of each,
 * in slices by the time of creation, each dropped when its window is over. When the memory is full, the oldest slice is
 * dropped early, and signatures as old as that count as expired.
 */
import { getOrMake } from '../../core/get-or-make.js';
import { limits } from '../../limits.js';

/** Seconds of `created` in one slice. */
const SLICE_S = 10;

export class ReplayMemory {
  readonly #entriesMax: number;
  readonly #slices = new Map<number, Set<number>>();
  /** Slices below this number were dropped. */
  #first = Number.NEGATIVE_INFINITY;

  constructor(entriesMax: number = limits.replaySignaturesMax) {
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    let size = 0;
    for (const slice of this.#slices.values()) size += slice.size;
    return size;
  }

  /** Returns whether a signature is known, or so old that it may have been. `created` is in seconds since 1970. */
  state(signature: Uint8Array, created: number): 'new' | 'known' | 'too_old' {
    const number = Math.floor(created / SLICE_S);
    if (number < this.#first) return 'too_old';
    return this.#slices.get(number)?.has(fingerprintOf(signature)) ? 'known' : 'new';
  }

  /** Adds a new signature. `now` is in seconds since 1970. */
  add(signature: Uint8Array, created: number, now: number): void {
    this.#dropBefore(Math.floor((now - limits.signatureWindowS) / SLICE_S));
    const number = Math.floor(created / SLICE_S);
    getOrMake(this.#slices, number, () => new Set()).add(fingerprintOf(signature));
    if (this.size > this.#entriesMax) this.#dropBefore(Math.min(...this.#slices.keys()) + 1);
  }

  #dropBefore(first: number): void {
    if (first <= this.#first) return;
    this.#first = first;
    for (const number of this.#slices.keys()) if (number < first) this.#slices.delete(number);
  }
}

function fingerprintOf({ buffer, byteOffset }: Uint8Array): number {
  return Buffer.from(buffer, byteOffset).readUIntBE(0, 6);
}
