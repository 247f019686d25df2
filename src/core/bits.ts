/** Stores a set of non-negative integers, one bit each. A Set takes 40 bytes each and holds at most 16 million. */
const SEGMENT_BYTES = 1 << 16;
const SEGMENT_BITS = SEGMENT_BYTES * 8;

export class Bits {
  readonly #segments: (Uint8Array | undefined)[] = [];

  add(i: number): void {
    const n = Math.floor(i / SEGMENT_BITS);
    const segment = this.#segments[n] ?? new Uint8Array(SEGMENT_BYTES);
    this.#segments[n] = segment;
    const bit = i % SEGMENT_BITS;
    segment[bit >>> 3]! |= 1 << (bit & 7);
  }

  has(i: number): boolean {
    const bit = i % SEGMENT_BITS;
    const byte = this.#segments[Math.floor(i / SEGMENT_BITS)]?.[bit >>> 3] ?? 0;
    return (byte & (1 << (bit & 7))) !== 0;
  }
}

/** Returns the number of the pair `j < k <= 65536` from 0 on. `pairOf(0, k)` is the number of pairs below `k`. */
export function pairOf(j: number, k: number): number {
  return ((k * (k - 1)) >>> 1) + j;
}

/** A set of pairs of peers, in any order of the two, a bit each: thousands of peers may all be alike. */
export class PeerPairs {
  readonly #pairs = new Bits();

  add(j: number, k: number): void {
    this.#pairs.add(pairOf(Math.min(j, k), Math.max(j, k) + 1));
  }

  has(j: number, k: number): boolean {
    return this.#pairs.has(pairOf(Math.min(j, k), Math.max(j, k) + 1));
  }
}
