/** Decides when the pool writes snapshots as the log grows, and replaces the snapshots that an erasure removed. */
import { limits } from '../../limits.js';
import type { Timers } from '../ports/clock.js';
import type { GroupObserver } from '../ports/observer.js';
import type { GroupPool } from '../ports/pool.js';
import type { LogWriter, SnapshotStore } from '../ports/storage.js';

export interface SnapshotDeps {
  readonly log: Pick<LogWriter, 'epoch'>;
  readonly snapshots: SnapshotStore;
  /** The snapshot from which recovery started: newer ones were not usable. 0 if it read the whole log. */
  readonly recoveredFrom: number;
  readonly pool: Pick<GroupPool, 'snapshot'>;
  readonly disk: { readonly fitsSnapshot: boolean };
  readonly timers: Pick<Timers, 'elapsed'>;
  readonly observer: Pick<GroupObserver, 'workDone'>;
  /** In log records. */
  readonly snapshotEvery: number;
  readonly onFailure: (what: string, error: unknown) => void;
}

export interface SnapshotSite {
  readonly storedSeq: () => number;
  /**
   * True from the removal of the snapshots for an erasure until it is complete: a snapshot would still name the player.
   */
  readonly forbidsSnapshots: () => boolean;
  /** True if no snapshot but the last one may begin. */
  readonly ending: () => boolean;
  readonly closed: () => boolean;
  readonly later: (act: () => void, ms: number) => void;
}

export class SnapshotWork {
  #making: Promise<void> | null = null;
  #newest: number;
  /** Snapshots from which recovery is impossible. The next snapshot removes or replaces them. */
  #unusable: readonly number[];
  #newestMs = 0;
  /** Time since which a snapshot is owed, because none is left or the newest is unusable; null if none is. */
  #dueSince: number | null = null;
  /** By `timers.elapsed()`: no snapshot is tried after a failure, and for a while after an erasure. */
  #pauseUntil = 0;
  #quietUntil = 0;

  constructor(
    private readonly deps: SnapshotDeps,
    private readonly site: SnapshotSite,
  ) {
    const { snapshots, recoveredFrom, timers } = deps;
    this.#newest = recoveredFrom;
    this.#unusable = snapshots.list().filter((seq) => seq > recoveredFrom);
    if (this.#unusable.length > 0) this.#dueSince = timers.elapsed();
  }

  /** Begins a snapshot if the tail is longer than `snapshotEvery` and half of what the newest one covers. */
  makeIfDue(): void {
    const { timers, snapshotEvery } = this.deps;
    const tail = this.site.storedSeq() - this.#newest;
    const isDue = this.#dueSince !== null || tail >= Math.max(snapshotEvery, this.#newest / 2);
    if (!isDue || this.#making !== null || this.site.forbidsSnapshots() || this.site.ending()) return;
    if (timers.elapsed() < Math.max(this.#pauseUntil, this.#quietUntil)) return;
    this.#making = this.#makeAndLookAgain();
  }

  /** Checks again afterwards: on an idle node no commit would trigger the check. */
  async #makeAndLookAgain(): Promise<void> {
    const { timers, onFailure } = this.deps;
    let waitMs: number = limits.workRetryMs;
    try {
      await this.#make();
    } catch (error) {
      waitMs = limits.snapshotRetryMs;
      this.#pauseUntil = timers.elapsed() + waitMs;
      if (!this.site.closed()) onFailure('snapshot', error);
    } finally {
      this.#making = null;
      this.site.later(() => this.makeIfDue(), waitMs);
    }
  }

  rested(): void {
    this.#pauseUntil = 0;
  }

  /**
   * Writes nothing if the newest covers it already or an erasure forbids it. Resolves with false, without beginning
   * one, if no time is left or the newest took longer than `msLeft` allows.
   */
  async makeLast(msLeft: () => number): Promise<boolean> {
    await this.#making;
    if (this.site.storedSeq() <= this.#newest || this.site.forbidsSnapshots()) return true;
    const ms = msLeft();
    if (ms === 0 || this.#newestMs > ms) return false;
    await this.#make();
    return true;
  }

  async drop(): Promise<void> {
    const { snapshots } = this.deps;
    await this.#making;
    await snapshots.sweep();
    for (const seq of snapshots.list()) await snapshots.remove(seq);
    this.#newest = 0;
    this.#unusable = [];
    this.#owe();
  }

  /** A while after the last erasure, but a trickle of erasures cannot delay it for ever. */
  #owe(): void {
    const now = this.deps.timers.elapsed();
    this.#dueSince ??= now;
    this.#quietUntil = Math.min(now + limits.snapshotAfterErasureMs, this.#dueSince + limits.snapshotOwedMs);
    this.site.later(() => this.makeIfDue(), limits.snapshotAfterErasureMs);
  }

  async #make(): Promise<void> {
    const { timers, observer, disk, pool, log, snapshots } = this.deps;
    const started = timers.elapsed();
    try {
      if (!disk.fitsSnapshot) throw new Error('too little disk space is free for a snapshot');
      const made = await pool.snapshot(this.site.storedSeq(), log.epoch);
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
