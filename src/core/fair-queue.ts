/**
 * Queues items of several holders by deficit round robin: a turn takes items of one holder up to a quantum of their
 * size. A holder with many items delays only itself.
 */

interface Line<V> {
  readonly items: V[];
  size: number;
  /** Size of the items that may still be taken in this turn of the holder. */
  credit: number;
}

export class FairQueue<K, V> {
  readonly #lines = new Map<K, Line<V>>();
  size = 0;

  constructor(
    private readonly quantum: number,
    private readonly itemSize: (item: V) => number,
  ) {}

  get empty(): boolean {
    return this.#lines.size === 0;
  }

  sizeOf(holder: K): number {
    return this.#lines.get(holder)?.size ?? 0;
  }

  largest(counts: (holder: K) => boolean): K | undefined {
    let most: K | undefined;
    for (const holder of this.#lines.keys()) {
      if (counts(holder) && (most === undefined || this.sizeOf(holder) > this.sizeOf(most))) most = holder;
    }
    return most;
  }

  /** Estimates the size of the items that would be taken before the whole of a new item of `size` is taken. */
  sizeBefore(holder: K, size: number): number {
    const own = this.sizeOf(holder);
    let before = own;
    for (const [other, line] of this.#lines) if (other !== holder) before += Math.min(own + size, line.size);
    return before;
  }

  push(holder: K, item: V): void {
    const size = this.itemSize(item);
    const line = this.#lines.get(holder);
    this.size += size;
    if (line === undefined) {
      this.#lines.set(holder, { items: [item], size, credit: this.quantum });
    } else {
      line.items.push(item);
      line.size += size;
    }
  }

  /**
   * Removes and returns items in the order of their turns, up to the first that does not satisfy `fits`. A holder whose
   * next item satisfies `waits` is passed over.
   */
  take(fits: (item: V) => boolean, waits: (item: V) => boolean = () => false): V[] {
    const out: V[] = [];
    // A holder that is set again is last in the map, so that this loop visits it again, with further credit.
    for (const [holder, line] of this.#lines) {
      let count = 0;
      let isFull = false;
      for (const item of line.items) {
        const size = this.itemSize(item);
        if (waits(item) || size > line.credit) break;
        isFull = !fits(item);
        if (isFull) break;
        out.push(item);
        line.credit -= size;
        line.size -= size;
        this.size -= size;
        count += 1;
      }
      // The array is truncated as well: under a lasting overload the queue is never empty.
      line.items.splice(0, count);
      if (isFull) break;
      const [next] = line.items;
      if (next !== undefined && waits(next)) continue;
      this.#lines.delete(holder);
      if (next === undefined) continue;
      line.credit += this.quantum;
      this.#lines.set(holder, line);
    }
    return out;
  }

  takeOne(): V | undefined {
    let left = 1;
    return this.take(() => left-- > 0)[0];
  }

  pop(holder: K): V | undefined {
    const line = this.#lines.get(holder);
    const item = line?.items.pop();
    if (line === undefined || item === undefined) return undefined;
    const size = this.itemSize(item);
    line.size -= size;
    this.size -= size;
    if (line.items.length === 0) this.#lines.delete(holder);
    return item;
  }

  removeWhere(leaves: (item: V) => boolean): V[] {
    const out: V[] = [];
    for (const [holder, line] of this.#lines) {
      const leaving = line.items.filter(leaves);
      if (leaving.length === 0) continue;
      const staying = line.items.filter((item) => !leaves(item));
      const size = leaving.reduce((sum, item) => sum + this.itemSize(item), 0);
      line.items.splice(0, line.items.length, ...staying);
      line.size -= size;
      this.size -= size;
      if (staying.length === 0) this.#lines.delete(holder);
      out.push(...leaving);
    }
    return out;
  }
}
