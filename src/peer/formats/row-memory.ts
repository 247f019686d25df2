/** Remembers what each row of a list came to, so that the next read of a changed list interprets new rows alone. */
import type { ListRow, RowRefusal } from './list-row.js';

export interface KnownRow {
  readonly text: string;
  readonly result: ListRow | RowRefusal;
  /** Its place in the last read that had it. */
  place: number;
}

export class RowMemory {
  readonly seen = new Set<string>();
  /** Those of them that are unknown but harmless by their names. */
  readonly open = new Set<string>();
  #key: string | null = null;
  #rows = new Map<string, KnownRow>();
  #former: KnownRow[] = [];
  #present: KnownRow[] = [];
  /** The place in the former read of the row that comes next if the list is the same here. */
  #next = 0;

  /** Begins a read. Forgets everything if what gives the rows their meaning, the key, is another than before. */
  begin(key: string): void {
    const isSame = key === this.#key;
    this.#former = isSame ? this.#present : [];
    this.#present = [];
    this.#next = 0;
    this.#key = key;
    // Some rows have left the list.
    if (this.#rows.size > this.#former.length) this.#rows = new Map(this.#former.map((row) => [row.text, row]));
    if (isSame) return;
    this.seen.clear();
    this.open.clear();
  }

  has(text: string): boolean {
    return this.#former.length > 0 && this.#rows.has(text);
  }

  /** Takes the row that came next in the former read, if the list has it at this place. */
  next(list: string, at: number): KnownRow | undefined {
    const row = this.#former[this.#next];
    return row !== undefined && list.startsWith(row.text, at) ? this.#take(row, this.#next) : undefined;
  }

  /** Takes a row of the former read; undefined if it is new. */
  recall(text: string): KnownRow | undefined {
    const row = this.#former.length > 0 ? this.#rows.get(text) : undefined;
    return row && this.#take(row, row.place);
  }

  add(part: string, result: ListRow | RowRefusal): void {
    // A part of a list would keep the whole list in memory.
    const text = Buffer.from(part).toString();
    const row = { text, result, place: this.#present.length };
    this.#rows.set(text, row);
    this.#present.push(row);
  }

  #take(row: KnownRow, formerPlace: number): KnownRow {
    this.#next = formerPlace + 1;
    row.place = this.#present.length;
    this.#present.push(row);
    return row;
  }
}
