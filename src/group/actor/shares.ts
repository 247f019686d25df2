/**
 * Number of events that each holder has in the mailbox, and that were recently admitted. A holder below its share is
 * admitted while others are refused, so that a holder that floods the node does not lock others out. The class has no
 * clock: `endPeriod` is called as time passes.
 */
import { limits } from '../../limits.js';
import type { Holder } from '../holder.js';

/** The events of one holder. */
export interface Share {
  /** Number of events in the mailbox. */
  waiting: number;
  /** Number of recently admitted events, halved at the end of each period. */
  recent: number;
}

const OTHERS: Holder = 'others';

export class Shares {
  readonly #shares = new Map<Holder, Share>();
  /** Sum over all holders. */
  #recent = 0;

  /** Returns the share of a holder; holders beyond the bound have a common one. */
  of(holder: Holder): Share {
    const known = this.#shares.get(holder);
    if (known !== undefined) return known;
    if (this.#shares.size >= limits.sharesMax && holder !== OTHERS) return this.of(OTHERS);
    const share = { waiting: 0, recent: 0 };
    this.#shares.set(holder, share);
    return share;
  }

  /**
   * True if `more` events of the holder of `share` take precedence: with them it stays below a part of the mean, or
   * below two batches.
   */
  hasRoom(share: Share, more: number): boolean {
    return share.recent + more <= Math.max(limits.shareFirstEvents, limits.shareFirst * this.#mean);
  }

  /** Notes admitted events. */
  add(share: Share, events: number): void {
    share.recent += events;
    this.#recent += events;
  }

  /** Halves the numbers of admitted events. */
  endPeriod(): void {
    this.#keep(0.5);
  }

  /** Forgets the admitted events: while there was room for all, no holder had too many. */
  forget(): void {
    this.#keep(0);
  }

  get #mean(): number {
    return this.#recent / Math.max(1, this.#shares.size);
  }

  /** Multiplies the numbers of admitted events by `part`, and drops holders without any events. */
  #keep(part: number): void {
    this.#recent = 0;
    for (const [holder, share] of this.#shares) {
      share.recent = Math.floor(part * share.recent);
      this.#recent += share.recent;
      if (share.recent === 0 && share.waiting === 0) this.#shares.delete(holder);
    }
  }
}
