/** Remembers what each row of a list came to, so that the next read of a changed list interprets new rows alone. */
import type { ListRow, RowRefusal } from './list-row.js';

export class RowMemory {
  readonly seen = new Set<string>();
  /** Those of them that are unknown but harmless by their names. */
  readonly open = new Set<string>();
  #key: string | null = null;
  #former: ReadonlyMap<string, ListRow | RowRefusal> = new Map();
  #present = new Map<string, ListRow | RowRefusal>();

  /** Begins a read. Forgets everything if what gives the rows their meaning, the key, is another than before. */
  begin(key: string): void {
    const isSame = key === this.#key;
    // The keys of rows are parts of a whole list, which is freed with them.
    this.#former = isSame ? this.#present : new Map();
    this.#present = new Map();
    this.#key = key;
    if (isSame) return;
    this.seen.clear();
    this.open.clear();
  }

  has(text: string): boolean {
    return this.#former.has(text);
  }

  /** Returns the row's result in the former read; undefined if it is new. */
  recall(text: string): ListRow | RowRefusal | undefined {
    const found = this.#former.get(text);
    if (found !== undefined) this.#present.set(text, found);
    return found;
  }

  add(text: string, result: ListRow | RowRefusal): void {
    this.#present.set(text, result);
  }
}
