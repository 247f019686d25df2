/**
 * Stores the newest published changes in memory, only the last one of each player, so that a reader can resume after a
 * short disconnection. The number of rows is bounded, and an erased player is removed at once.
 */
import type { ChangeRow } from '../verdict-changes.js';

export class ChangeRing {
  readonly #rowsMax: number;
  /** Rows by the ordinal of a change modulo the ring's size. Empty if a newer change of the player replaced it. */
  readonly #rows: string[];
  readonly #subjects: string[];
  readonly #positions: Float64Array;
  /** Ordinal of the newest change of each player. */
  readonly #newest = new Map<string, number>();
  #first = 0;
  #next = 0;
  /** All changes after this position are in the ring. */
  #from = 0;

  constructor(rowsMax: number) {
    this.#rowsMax = rowsMax;
    this.#rows = new Array<string>(rowsMax).fill('');
    this.#subjects = new Array<string>(rowsMax).fill('');
    this.#positions = new Float64Array(rowsMax);
  }

  get size(): number {
    return this.#newest.size;
  }

  /** Adds changes at a position that is not below earlier ones. Removes an erased player and does not add it. */
  add(position: number, rows: readonly ChangeRow[]): void {
    for (const { subject, text } of rows) {
      this.#drop(this.#newest.get(subject));
      if (text !== null) this.#put(position, subject, text);
    }
  }

  /**
   * Returns the JSON rows of all changes after `position`, oldest first; null if the ring does not reach back that far.
   */
  after(position: number): string[] | null {
    if (position < this.#from) return null;
    const texts: string[] = [];
    for (let ordinal = this.#firstBehind(position); ordinal < this.#next; ordinal++) {
      const text = this.#rows[ordinal % this.#rowsMax]!;
      if (text !== '') texts.push(text);
    }
    return texts;
  }

  clear(position: number): void {
    this.#newest.clear();
    this.#rows.fill('');
    this.#subjects.fill('');
    this.#first = this.#next;
    this.#from = position;
  }

  #put(position: number, subject: string, text: string): void {
    if (this.#next - this.#first === this.#rowsMax) {
      const place = this.#first % this.#rowsMax;
      if (this.#rows[place] !== '') {
        this.#from = this.#positions[place]!;
        this.#drop(this.#first);
      }
      this.#first++;
    }
    const place = this.#next % this.#rowsMax;
    this.#rows[place] = text;
    this.#subjects[place] = subject;
    this.#positions[place] = position;
    this.#newest.set(subject, this.#next++);
  }

  #drop(ordinal: number | undefined): void {
    if (ordinal === undefined) return;
    const place = ordinal % this.#rowsMax;
    this.#newest.delete(this.#subjects[place]!);
    this.#rows[place] = '';
    this.#subjects[place] = '';
  }

  /** Returns the first ordinal after a position. */
  #firstBehind(position: number): number {
    let low = this.#first;
    let high = this.#next;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.#positions[middle % this.#rowsMax]! <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
