/** Remembers what each row of a list came to, so that the next read of a changed list interprets new rows alone. */
import { bounds } from '../../client/for-peer.js';
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

  /** Begins a read. Forgets everything if what gives the rows their meaning, the key, is new, or names are too many. */
  begin(key: string): void {
    const isSame = key === this.#key && this.seen.size <= bounds.listNames;
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

  /** The row of the former read that a list has at this place, where a row begins; undefined if there is none. */
  find(list: string, at: number): KnownRow | undefined {
    const next = this.#former[this.#next];
    if (next === undefined || list.startsWith(next.text, at)) return next;
    return this.get(list.slice(at, list.indexOf('\n', at) + 1));
  }

  get(text: string): KnownRow | undefined {
    return this.#former.length > 0 ? this.#rows.get(text) : undefined;
  }

  take(row: KnownRow): void {
    // The former read may have had the row more than once.
    this.#next = 1 + (this.#former[this.#next] === row ? this.#next : row.place);
    row.place = this.#present.length;
    this.#present.push(row);
  }

  add(part: string, result: ListRow | RowRefusal): void {
    // A part of a list would keep the whole list in memory.
    const text = Buffer.from(part).toString();
    const row = { text, result, place: this.#present.length };
    this.#rows.set(text, row);
    this.#present.push(row);
  }
}
