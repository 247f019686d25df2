/** Has snapshots made in the pool as the log grows, and makes up for those that an erasure removed. */
import { limits } from '../../limits.js';
import type { Timers } from '../ports/clock.js';
import type { LogWriter } from '../ports/log.js';
import type { GroupObserver } from '../ports/observer.js';
import type { GroupPool } from '../ports/pool.js';
import type { SnapshotStore } from '../ports/snapshots.js';

export interface SnapshotDeps {
  readonly log: Pick<LogWriter, 'epoch'>;
  readonly snapshots: SnapshotStore;
  /** The snapshot that recovery started from, 0 for none: those that are newer it could not use. */
  readonly recoveredFrom: number;
  readonly pool: Pick<GroupPool, 'snapshot'>;
  readonly disk: { readonly fitsSnapshot: boolean };
  readonly timers: Pick<Timers, 'elapsed'>;
  readonly observer: Pick<GroupObserver, 'workDone'>;
  /** In log records. */
  readonly snapshotEvery: number;
  readonly onFailure: (what: string, error: unknown) => void;
}

/** The group as its snapshots need it. */
export interface SnapshotSite {
  readonly durableSeq: () => number;
  /** An erasure has removed the snapshots and is not done: what is written now would name the player after its end. */
  readonly erasing: () => boolean;
  /** None is to be begun but the last one. */
  readonly ending: () => boolean;
  /** What fails from here on is nobody's trouble. */
  readonly closed: () => boolean;
  /** Acts after so many ms, unless nothing is to be done any more by then. */
  readonly later: (act: () => void, ms: number) => void;
}

export class SnapshotWork {
  readonly #deps: SnapshotDeps;
  readonly #site: SnapshotSite;
  /** The snapshot being made. */
  #making: Promise<void> | null = null;
  #newest: number;
  /** Those that nothing can be recovered from. They go with the next that is made, or are replaced by it. */
  #unusable: readonly number[];
  /** What the newest one took; 0 where it was not made here. */
  #newestMs = 0;
  /** Since when a snapshot is owed, because an erasure removed all, or the newest cannot be used; null: none is. */
  #dueSince: number | null = null;
  /**
   * Moments of `timers.elapsed()` before which none is tried: after one that failed, and in the quiet after an erasure.
   */
  #pauseUntil = 0;
  #quietUntil = 0;

  constructor(deps: SnapshotDeps, site: SnapshotSite) {
    this.#deps = deps;
    this.#site = site;
    const { snapshots, recoveredFrom, timers } = deps;
    this.#newest = recoveredFrom;
    this.#unusable = snapshots.list().filter((seq) => seq > recoveredFrom);
    if (this.#unusable.length > 0) this.#dueSince = timers.elapsed();
  }

  /** Due when the tail is longer than half of what the newest snapshot covers, and than `snapshotEvery`. */
  makeIfDue(): void {
    const { timers, snapshotEvery } = this.#deps;
    const tail = this.#site.durableSeq() - this.#newest;
    const isDue = this.#dueSince !== null || tail >= Math.max(snapshotEvery, this.#newest / 2);
    if (!isDue || this.#making !== null || this.#site.erasing() || this.#site.ending()) return;
    if (timers.elapsed() < Math.max(this.#pauseUntil, this.#quietUntil)) return;
    this.#making = this.#makeAndLookAgain();
  }

  /**
   * Looks again when it is done: what came meanwhile may be due, a failure is to be tried again, and on a node at rest
   * no commit would look.
   */
  async #makeAndLookAgain(): Promise<void> {
    const { timers, onFailure } = this.#deps;
    let waitMs: number = limits.workRetryMs;
    try {
      await this.#make();
    } catch (error) {
      waitMs = limits.snapshotRetryMs;
      this.#pauseUntil = timers.elapsed() + waitMs;
      if (!this.#site.closed()) onFailure('snapshot', error);
    } finally {
      this.#making = null;
      this.#site.later(() => this.makeIfDue(), waitMs);
    }
  }

  /** Whatever the last one failed of is better now. */
  rested(): void {
    this.#pauseUntil = 0;
  }

  /**
   * Makes one of all that is durable, unless the newest is that already or an erasure forbids it. Resolves to false,
   * and begins none, where the newest took longer than `msLeft` says that there is.
   */
  async makeLast(msLeft: () => number): Promise<boolean> {
    await this.#making;
    if (this.#site.durableSeq() <= this.#newest || this.#site.erasing()) return true;
    if (this.#newestMs > msLeft()) return false;
    await this.#make();
    return true;
  }

  /** Removes all. One is owed then. */
  async drop(): Promise<void> {
    const { snapshots } = this.#deps;
    await this.#making;
    await snapshots.sweep();
    for (const seq of snapshots.list()) await snapshots.remove(seq);
    this.#newest = 0;
    this.#unusable = [];
    this.#owe();
  }

  /** Made up for after a while without erasures, but not put off for ever by a trickle of them. */
  #owe(): void {
    const now = this.#deps.timers.elapsed();
    this.#dueSince ??= now;
    const latest = this.#dueSince + limits.snapshotOwedMs;
    this.#quietUntil = Math.min(now + limits.snapshotAfterErasureMs, latest);
    this.#site.later(() => this.makeIfDue(), limits.snapshotAfterErasureMs);
  }

  async #make(): Promise<void> {
    const { timers, observer, disk, pool, log, snapshots } = this.#deps;
    const started = timers.elapsed();
    try {
      if (!disk.fitsSnapshot) throw new Error('too little disk space is free for a snapshot');
      const made = await pool.snapshot(this.#site.durableSeq(), log.epoch);
      if (made === null) return;
      this.#newest = made.seq;
      this.#newestMs = made.ms;
      this.#dueSince = null;
      const outlived = this.#unusable.filter((seq) => seq !== made.seq);
      for (const seq of outlived) await snapshots.remove(seq);
      this.#unusable = [];
      for (const seq of snapshots.list().slice(limits.snapshotsMax)) await snapshots.remove(seq);
      observer.workDone('snapshot', true, timers.elapsed() - started);
    } catch (error) {
      observer.workDone('snapshot', false, timers.elapsed() - started);
      throw error;
    }
  }
}
