/**
 * Provides the memory that computations of a thread reuse: returned memory is unmapped, mapped again and counted by
 * the garbage collector each time, which stops the other threads of the process for milliseconds.
 */

/** Spare share of each column, so that a growing group does not need new ones each time. */
const SPARE = 1 / 8;

/** Columns keep their old content; the borrower writes all of it. */
export class Scratch {
  readonly #buffers: ArrayBuffer[] = [];
  #borrowed = 0;

  /** A computation calls `yieldCore` every fraction of a ms. The thread may sleep in it; no result depends on it. */
  constructor(readonly yieldCore: () => void = () => undefined) {}

  /** Begins a computation and makes all columns available again. */
  begin(): this {
    this.#borrowed = 0;
    return this;
  }

  float64(length: number): Float64Array {
    return new Float64Array(this.#borrow(length * Float64Array.BYTES_PER_ELEMENT), 0, length);
  }

  uint32(length: number): Uint32Array {
    return new Uint32Array(this.#borrow(length * Uint32Array.BYTES_PER_ELEMENT), 0, length);
  }

  uint16(length: number): Uint16Array {
    return new Uint16Array(this.#borrow(length * Uint16Array.BYTES_PER_ELEMENT), 0, length);
  }

  uint8(length: number): Uint8Array {
    return new Uint8Array(this.#borrow(length), 0, length);
  }

  /** Returns the n-th buffer of the previous computation as the n-th of this one, if it is large enough. */
  #borrow(bytes: number): ArrayBuffer {
    const place = this.#borrowed++;
    const buffer = this.#buffers[place];
    if (buffer !== undefined && buffer.byteLength >= bytes) return buffer;
    const made = new ArrayBuffer(Math.ceil(bytes * (1 + SPARE)));
    this.#buffers[place] = made;
    return made;
  }
}

/** Items of a block: so few that V8 compiles between two calls and not during one. */
export const BLOCK = 512;

/**
 * Calls `take` for `count` items by blocks, and `yieldCore` after each. V8 would compile one loop while it runs, and
 * discard the code at its end: the first eight computations of a process took a third longer.
 */
export function inBlocks(count: number, yieldCore: () => void, take: (from: number, to: number) => void): void {
  for (let from = 0; from < count; from += BLOCK) {
    take(from, Math.min(count, from + BLOCK));
    yieldCore();
  }
}
