/**
 * Slows down holders that send batches again at once after a refusal: reading a batch costs time even if it is refused.
 * Each refused batch adds its bytes to the debt of its holder, up to a bound, and the debt shrinks at a fixed rate. In
 * an overload a batch waits, unread, until only a small debt is left. `now` is in ms of a monotonic clock.
 */
import type { Holder } from '../../group/ports/pool.js';
import { limits } from '../../limits.js';
import { Holdings } from './holdings.js';

export interface PacedBatch {
  /** ms until it may be read. Null if too many batches wait: it must be refused unread. */
  readonly waitMs: number | null;
  /** Notes whether it was refused before it was parsed. The first call counts; none is needed if `waitMs` is null. */
  ended(isRefused: boolean, now: number): void;
}

/** The largest debt of a holder: it delays a batch for the longest permitted time. */
const debtMsMax = limits.refusedDebtMs + limits.pacedWaitMsMax;

export class BatchPace {
  readonly #paidAt = new Map<Holder, number>();
  readonly #waiting = new Holdings<Holder, PacedBatch>();
  #sweptAt = 0;

  get holders(): number {
    return this.#paidAt.size;
  }

  /** Begins a batch of `bytes`, which counts as refused until it has ended otherwise. */
  begin(holder: Holder, bytes: number, isOverloaded: boolean, now: number): PacedBatch {
    const debtMs = this.#debtMs(holder, now);
    const excessMs = isOverloaded ? debtMs - limits.refusedDebtMs : 0;
    const waits = excessMs > 0;
    if (waits && !this.#mayWait(holder)) return { waitMs: null, ended: () => undefined };
    // Batches that wait at the same time are read one after the other.
    const addedMs = debtMs > 0 ? this.#add(holder, bytes, now) : 0;
    const paidAt = this.#paidAt.get(holder) ?? now;
    let hasEnded = false;
    const batch: PacedBatch = {
      waitMs: Math.max(0, excessMs),
      ended: (isRefused, endedAt) => {
        if (hasEnded) return;
        hasEnded = true;
        this.#waiting.delete(holder, batch);
        // The part of the debt that is paid already is not refunded, because the refund would pay for other batches.
        if (!isRefused) this.#subtract(holder, Math.min(addedMs, paidAt - endedAt), endedAt);
        else if (addedMs === 0) this.#add(holder, bytes, endedAt);
      },
    };
    if (waits) this.#waiting.add(holder, batch);
    return batch;
  }

  #debtMs(holder: Holder, now: number): number {
    return Math.max(0, (this.#paidAt.get(holder) ?? now) - now);
  }

  /** Returns the added debt in ms. */
  #add(holder: Holder, bytes: number, now: number): number {
    this.#sweep(now);
    if (!this.#paidAt.has(holder) && this.#paidAt.size >= limits.sharesMax) return 0;
    const before = this.#debtMs(holder, now);
    const after = Math.min(debtMsMax, before + (bytes / limits.refusedBytesPerS) * 1000);
    this.#paidAt.set(holder, now + after);
    return after - before;
  }

  #subtract(holder: Holder, ms: number, now: number): void {
    const debtMs = this.#debtMs(holder, now);
    if (debtMs > 0 && ms > 0) this.#paidAt.set(holder, now + Math.max(0, debtMs - ms));
  }

  /** Returns whether one more batch may wait. Once all places are taken, each holder has its share. */
  #mayWait(holder: Holder): boolean {
    if (this.#waiting.pieces < limits.pacedBatchesMax) return true;
    const own = this.#waiting.countOf(holder);
    const holders = this.#waiting.holders + (own === 0 ? 1 : 0);
    return (own + 1) * holders <= limits.pacedBatchesMax;
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < limits.sharePeriodMs) return;
    this.#sweptAt = now;
    for (const [holder, paidAt] of this.#paidAt) if (paidAt <= now) this.#paidAt.delete(holder);
  }
}
