/** Seeded random numbers for tests: the same seed gives the same numbers (mulberry32, T. Ettinger). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** Returns an integer from 0 to below `n`. */
  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }
}
