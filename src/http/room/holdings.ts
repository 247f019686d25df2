/** Counts the pieces of a bounded resource per holder; the holder with the most loses pieces first. */
import { getOrMake } from '../../core/get-or-make.js';

export class Holdings<H, T> {
  readonly #of = new Map<H, Set<T>>();
  readonly #byCount = new Map<number, Set<H>>();
  #most = 0;
  pieces = 0;

  get holders(): number {
    return this.#of.size;
  }

  of(holder: H): ReadonlySet<T> | undefined {
    return this.#of.get(holder);
  }

  countOf(holder: H): number {
    return this.#of.get(holder)?.size ?? 0;
  }

  /** The holder with the most pieces, the first among equals; undefined if there is no piece. */
  get largest(): H | undefined {
    const [holder] = this.#byCount.get(this.#most) ?? [];
    return holder;
  }

  add(holder: H, piece: T): void {
    const pieces = getOrMake(this.#of, holder, () => new Set<T>());
    const before = pieces.size;
    this.#move(holder, before, pieces.add(piece).size);
  }

  delete(holder: H, piece: T): void {
    const pieces = this.#of.get(holder);
    if (pieces === undefined || !pieces.delete(piece)) return;
    if (pieces.size === 0) this.#of.delete(holder);
    this.#move(holder, pieces.size + 1, pieces.size);
  }

  putLast(holder: H, piece: T): void {
    const pieces = this.#of.get(holder);
    if (pieces?.delete(piece)) pieces.add(piece);
  }

  #move(holder: H, from: number, to: number): void {
    if (from === to) return;
    this.pieces += to - from;
    const left = this.#byCount.get(from);
    left?.delete(holder);
    if (left?.size === 0) this.#byCount.delete(from);
    if (to > 0) getOrMake(this.#byCount, to, () => new Set<H>()).add(holder);
    // Counts change by one, so the new maximum is the count of this holder.
    if (to > this.#most || !this.#byCount.has(this.#most)) this.#most = to;
  }
}
