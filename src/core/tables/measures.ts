/** Stores the sums of the few pairs with a measure. Entries hold the number of their row, and may move freely. */
import { rescaled } from '../evidence/decay.js';

const ROWS = 4_096;
/** Doubles of a row: the lowering claims, then the measure. */
const DOUBLES = 2;

export class Measures {
  readonly #segments: Float64Array[] = [];
  readonly #free: number[] = [];
  #rows = 0;

  /** Counts the measures above 0: one may have faded to nothing. */
  count(): number {
    let found = 0;
    for (const segment of this.#segments) {
      for (let at = 1; at < segment.length; at += DOUBLES) found += segment[at]! > 0 ? 1 : 0;
    }
    return found;
  }

  add(lowering: number): number {
    const row = this.#free.pop() ?? this.#rows++;
    if (row === this.#segments.length * ROWS) this.#segments.push(new Float64Array(ROWS * DOUBLES));
    this.setLowering(row, lowering);
    return row;
  }

  remove(row: number): void {
    this.setLowering(row, 0);
    this.set(row, 0);
    this.#free.push(row);
  }

  lowering(row: number): number {
    return this.#segments[Math.trunc(row / ROWS)]![(row % ROWS) * DOUBLES]!;
  }

  setLowering(row: number, sum: number): void {
    this.#segments[Math.trunc(row / ROWS)]![(row % ROWS) * DOUBLES] = sum;
  }

  get(row: number): number {
    return this.#segments[Math.trunc(row / ROWS)]![(row % ROWS) * DOUBLES + 1]!;
  }

  set(row: number, sum: number): void {
    this.#segments[Math.trunc(row / ROWS)]![(row % ROWS) * DOUBLES + 1] = sum;
  }

  scale(claims: number, measures: number): void {
    for (const segment of this.#segments) {
      for (let at = 0; at < segment.length; at += DOUBLES) {
        segment[at] = rescaled(segment[at]!, claims);
        segment[at + 1] = rescaled(segment[at + 1]!, measures);
      }
    }
  }
}
