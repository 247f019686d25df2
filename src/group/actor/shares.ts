/** Counts the recently admitted events of each holder, so that one that floods the node does not lock others out. */
import { limits } from '../../limits.js';
import type { Holder } from '../holder.js';

const OTHERS: Holder = 'others';

export class Shares {
  readonly #recent = new Map<Holder, number>();
  #total = 0;

  /** True if the holder then stays below a part of the mean, or below two batches. */
  hasRoom(holder: Holder, more: number): boolean {
    const recent = this.#recent.get(this.#counted(holder)) ?? 0;
    return recent + more <= Math.max(limits.shareFirstEvents, limits.shareFirst * this.#mean);
  }

  add(holder: Holder, events: number): void {
    const counted = this.#counted(holder);
    this.#recent.set(counted, (this.#recent.get(counted) ?? 0) + events);
    this.#total += events;
  }

  endPeriod(): void {
    this.#keep(0.5);
  }

  /** Forgets the admitted events: while there was room for all, no holder had too many. */
  forget(): void {
    this.#keep(0);
  }

  get #mean(): number {
    return this.#total / Math.max(1, this.#recent.size);
  }

  #counted(holder: Holder): Holder {
    return this.#recent.has(holder) || this.#recent.size < limits.sharesMax ? holder : OTHERS;
  }

  #keep(part: number): void {
    this.#total = 0;
    for (const [holder, before] of this.#recent) {
      const recent = Math.floor(part * before);
      this.#total += recent;
      if (recent === 0) this.#recent.delete(holder);
      else this.#recent.set(holder, recent);
    }
  }
}
