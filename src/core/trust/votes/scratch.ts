/**
 * What a computation is lent by the thread that it runs on. Its large columns are kept for the next one: given back to
 * the system instead, they are unmapped in one piece, and mapped and counted against the collector each time anew: all
 * of that stops the other threads of the process for milliseconds.
 */

/** An eighth more than asked for: a group that grows does not need new ones each time. */
const SPARE = 1 / 8;

/** Columns hold whatever was left in them; who takes one writes all of it. */
export class Scratch {
  /**
   * The yield of the thread. A computation calls it again and again, a fraction of a millisecond apart, and the thread
   * may sleep in it. No result depends on it.
   */
  readonly yieldCore: () => void;
  readonly #buffers: ArrayBuffer[] = [];
  #borrowed = 0;

  constructor(yieldCore: () => void = () => undefined) {
    this.yieldCore = yieldCore;
  }

  /** Begins a computation: what was taken before belongs to it again. */
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

  /** The n-th of a computation is the n-th of the one before, where it is large enough. */
  #borrow(bytes: number): ArrayBuffer {
    const place = this.#borrowed++;
    const buffer = this.#buffers[place];
    if (buffer !== undefined && buffer.byteLength >= bytes) return buffer;
    const made = new ArrayBuffer(Math.ceil(bytes * (1 + SPARE)));
    this.#buffers[place] = made;
    return made;
  }
}
