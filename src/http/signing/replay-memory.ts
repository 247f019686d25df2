/**
 * Remembers the signatures accepted within the time window, so that none is accepted twice: the first 8 bytes of each,
 * in slices by the time of creation, each dropped when its window is over. When the memory is full, the oldest slice is
 * dropped early, and signatures as old as that count as expired.
 */
import { limits } from '../../limits.js';

/** Seconds of `created` in one slice. */
const SLICE_S = 10;
const SLOTS_AT_FIRST = 64;

class Fingerprints {
  size = 0;
  #words = new Uint32Array(2 * SLOTS_AT_FIRST);

  has(high: number, low: number): boolean {
    return this.#words[2 * this.#slotOf(high, low)] !== 0;
  }

  /** `high` must not be 0. */
  add(high: number, low: number): void {
    if (2 * this.size >= this.#words.length / 2) this.#grow();
    const slot = this.#slotOf(high, low);
    this.#words[2 * slot] = high;
    this.#words[2 * slot + 1] = low;
    this.size++;
  }

  /** Returns the slot of the fingerprint, or the free slot for it. Signatures are evenly distributed. */
  #slotOf(high: number, low: number): number {
    const words = this.#words;
    const mask = words.length / 2 - 1;
    let slot = low & mask;
    while (words[2 * slot] !== 0 && (words[2 * slot] !== high || words[2 * slot + 1] !== low)) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const before = this.#words;
    this.#words = new Uint32Array(2 * before.length);
    this.size = 0;
    for (let at = 0; at < before.length; at += 2) if (before[at] !== 0) this.add(before[at]!, before[at + 1]!);
  }
}

export class ReplayMemory {
  readonly #slices = new Map<number, Fingerprints>();
  /** Slices below this number were dropped. */
  #first = Number.NEGATIVE_INFINITY;
  size = 0;

  constructor(private readonly entriesMax: number = limits.replaySignaturesMax) {}

  /** Returns whether a signature is known, or so old that it may have been. `created` is in seconds since 1970. */
  state(signature: Uint8Array, created: number): 'new' | 'known' | 'too_old' {
    const number = Math.floor(created / SLICE_S);
    if (number < this.#first) return 'too_old';
    const [high, low] = fingerprintOf(signature);
    return this.#slices.get(number)?.has(high, low) ? 'known' : 'new';
  }

  /** Adds a new signature. `now` is in seconds since 1970. */
  add(signature: Uint8Array, created: number, now: number): void {
    this.#dropBefore(Math.floor((now - limits.signatureWindowS) / SLICE_S));
    const number = Math.floor(created / SLICE_S);
    const slice = this.#slices.get(number) ?? new Fingerprints();
    this.#slices.set(number, slice);
    slice.add(...fingerprintOf(signature));
    this.size++;
    if (this.size > this.entriesMax) this.#dropBefore(Math.min(...this.#slices.keys()) + 1);
  }

  #dropBefore(first: number): void {
    if (first <= this.#first) return;
    this.#first = first;
    for (const [number, { size }] of this.#slices) {
      if (number >= first) continue;
      this.#slices.delete(number);
      this.size -= size;
    }
  }
}

function fingerprintOf(signature: Uint8Array): [high: number, low: number] {
  const at = (i: number) =>
    ((signature[i]! << 24) | (signature[i + 1]! << 16) | (signature[i + 2]! << 8) | signature[i + 3]!) >>> 0;
  return [at(0) || 1, at(4)];
}
