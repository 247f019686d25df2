/**
 * How many events each holder has in the mailbox, and had let in recently. A holder with less than its share is let in
 * while others are refused, so that one that floods the node keeps nobody else out. It has no clock: `periodOver` says
 * when time has passed.
 */
import { limits } from '../../limits.js';
import type { Holder } from '../holder.js';

/** The events of one holder. */
export interface Share {
  /** Events in the mailbox. */
  waiting: number;
  /** Events let in recently: each period halves the number. */
  recent: number;
}

const OTHERS: Holder = 'others';

export class Shares {
  readonly #shares = new Map<Holder, Share>();
  /** Of all holders. */
  #recent = 0;

  /** Holders beyond the bound share one. */
  of(holder: Holder): Share {
    const known = this.#shares.get(holder);
    if (known !== undefined) return known;
    if (this.#shares.size >= limits.sharesMax && holder !== OTHERS) return this.of(OTHERS);
    const share = { waiting: 0, recent: 0 };
    this.#shares.set(holder, share);
    return share;
  }

  /**
   * Whether the holder of `share` may have `more` events before others: it stays below a part of the mean, or below two
   * batches.
   */
  hasRoom(share: Share, more: number): boolean {
    return share.recent + more <= Math.max(limits.shareFirstEvents, limits.shareFirst * this.#mean);
  }

  /** Events were let in. */
  add(share: Share, events: number): void {
    share.recent += events;
    this.#recent += events;
  }

  /** Halves what was let in. */
  endPeriod(): void {
    this.#keep(0.5);
  }

  /** Forgets what was let in: while there was room for all, nobody had too much. */
  forget(): void {
    this.#keep(0);
  }

  get #mean(): number {
    return this.#recent / Math.max(1, this.#shares.size);
  }

  /** Keeps a part of what was let in, and no holder that has nothing left. */
  #keep(part: number): void {
    this.#recent = 0;
    for (const [holder, share] of this.#shares) {
      share.recent = Math.floor(part * share.recent);
      this.#recent += share.recent;
      if (share.recent === 0 && share.waiting === 0) this.#shares.delete(holder);
    }
  }
}
