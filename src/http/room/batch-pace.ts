/**
 * Slows down holders that send batches again at once after a refusal, whatever its `Retry-After` said. To read a batch
 * costs time even if it is refused; so the node reads such batches at a bounded rate, and the rest waits in the
 * caller's own connection. A holder that waits as it was asked to is never delayed, nor is a batch that is admitted.
 *
 * Each refused batch adds its bytes to the debt of its holder, and the debt shrinks at a fixed rate. A batch of a
 * holder with a debt is read once the debt has shrunk to a small rest. The class has no clock: `now` is in ms of a
 * monotonic one.
 */
import type { Holder } from '../../group/holder.js';
import { limits } from '../../limits.js';

/** A batch whose head has arrived. */
export interface PacedBatch {
  /** ms until it may be read. Null if too many batches wait: it must be refused unread. */
  readonly waitMs: number | null;
  /** Notes whether it was refused for lack of room. Must be called once. */
  ended(isRefused: boolean, now: number): void;
}

export class BatchPace {
  /** Time at which the debt of each holder is paid. */
  readonly #paidAt = new Map<Holder, number>();
  #waiting = 0;
  #sweptAt = 0;

  /** Number of holders with a debt. */
  get debtors(): number {
    return this.#paidAt.size;
  }

  /** Begins a batch of `bytes`, which counts as refused until it has ended otherwise. */
  begin(holder: Holder, bytes: number, now: number): PacedBatch {
    const ms = (bytes / limits.refusedBytesPerS) * 1000;
    const paidAt = this.#paidAt.get(holder);
    if (paidAt === undefined || paidAt <= now) {
      return {
        waitMs: 0,
        ended: (isRefused, endedAt) => {
          if (isRefused) this.#add(holder, ms, endedAt);
        },
      };
    }
    const waitMs = Math.min(limits.pacedWaitMsMax, Math.max(0, paidAt - now - limits.refusedDebtMs));
    const waits = waitMs > 0;
    if (waits && this.#waiting >= limits.pacedBatchesMax) return { waitMs: null, ended: () => undefined };
    if (waits) this.#waiting += 1;
    this.#paidAt.set(holder, paidAt + ms);
    return {
      waitMs,
      ended: (isRefused) => {
        if (waits) this.#waiting -= 1;
        const paid = this.#paidAt.get(holder);
        if (!isRefused && paid !== undefined) this.#paidAt.set(holder, paid - ms);
      },
    };
  }

  #add(holder: Holder, ms: number, now: number): void {
    this.#sweep(now);
    const paidAt = this.#paidAt.get(holder);
    if (paidAt === undefined && this.#paidAt.size >= limits.sharesMax) return;
    this.#paidAt.set(holder, Math.max(now, paidAt ?? now) + ms);
  }

  /** Forgets paid debts, from time to time. */
  #sweep(now: number): void {
    if (now - this.#sweptAt < limits.sharePeriodMs) return;
    this.#sweptAt = now;
    for (const [holder, paidAt] of this.#paidAt) if (paidAt <= now) this.#paidAt.delete(holder);
  }
}
