/** Stores a set of non-negative integers, one bit each. A Set takes 40 bytes each and holds at most 16 million. */
const SEGMENT_BYTES = 1 << 16;
const SEGMENT_BITS = SEGMENT_BYTES * 8;

export class Bits {
  readonly #segments: Uint8Array[] = [];

  add(i: number): void {
    const segment = Math.floor(i / SEGMENT_BITS);
    while (this.#segments.length <= segment) this.#segments.push(new Uint8Array(SEGMENT_BYTES));
    const bit = i % SEGMENT_BITS;
    this.#segments[segment]![bit >>> 3]! |= 1 << (bit & 7);
  }

  has(i: number): boolean {
    const bit = i % SEGMENT_BITS;
    const byte = this.#segments[Math.floor(i / SEGMENT_BITS)]?.[bit >>> 3] ?? 0;
    return (byte & (1 << (bit & 7))) !== 0;
  }
}
