/**
 * The newest changes that the verdict stream told, the last of each player only, so that a reader that was cut off for
 * a moment resumes from memory. Bounded in rows; an erased player leaves it at once.
 */
import type { ChangeRow } from '../verdict-changes.js';

export class ChangeRing {
  readonly #rowsMax: number;
  /**
   * By place, which is the ordinal of a change modulo the ring's size; empty where a newer change of the player took
   * over.
   */
  readonly #rows: string[];
  readonly #subjects: string[];
  readonly #positions: Float64Array;
  /** Ordinals of the newest change of each player. */
  readonly #newest = new Map<string, number>();
  #first = 0;
  #next = 0;
  /** Everything told after this position is here. */
  #from = 0;

  constructor(rowsMax: number) {
    this.#rowsMax = rowsMax;
    this.#rows = new Array<string>(rowsMax).fill('');
    this.#subjects = new Array<string>(rowsMax).fill('');
    this.#positions = new Float64Array(rowsMax);
  }

  /** Players that it holds a change of. */
  get size(): number {
    return this.#newest.size;
  }

  /** What was told at a position, not below any before. An erased player is taken out, and not noted. */
  add(position: number, rows: readonly ChangeRow[]): void {
    for (const { subject, text } of rows) {
      this.#drop(this.#newest.get(subject));
      if (text !== null) this.#put(position, subject, text);
    }
  }

  /** Rows as JSON of all that was told after `position`, oldest first; null where that reaches too far back. */
  after(position: number): string[] | null {
    if (position < this.#from) return null;
    const texts: string[] = [];
    for (let ordinal = this.#firstBehind(position); ordinal < this.#next; ordinal++) {
      const text = this.#rows[ordinal % this.#rowsMax]!;
      if (text !== '') texts.push(text);
    }
    return texts;
  }

  /** Forgets everything: what is told after `position` is held from here on. */
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

  /** The first ordinal told after a position. */
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
