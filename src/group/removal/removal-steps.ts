/** Carries out the steps of `removal-process.ts` with the pool, the log and the snapshots, and repeats failed ones. */
import { limits } from '../../limits.js';
import type { Timers } from '../ports/clock.js';
import type { GroupObserver } from '../ports/observer.js';
import type { GroupPool, RedactionWork } from '../ports/pool.js';
import { type LogWriter, ScrubDeferredError } from '../ports/storage.js';
import type { RemovalEffect, RemovalProcess, RemovalStep } from './removal-process.js';

export interface RemovalDeps {
  readonly pool: Pick<GroupPool, 'follow' | 'redact' | 'retire'>;
  readonly log: Pick<LogWriter, 'scrub'>;
  readonly timers: Pick<Timers, 'elapsed'>;
  readonly observer: Pick<GroupObserver, 'workDone'>;
  readonly publishErasures: () => Promise<void>;
  readonly onFailure: (what: string, error: unknown) => void;
}

export interface RemovalSite<T> {
  readonly removal: RemovalProcess<T>;
  readonly storedSeq: () => number;
  readonly dropSnapshots: () => Promise<void>;
  readonly report: (effects: RemovalEffect<T>[]) => void;
  readonly ended: () => boolean;
  readonly closed: () => boolean;
  readonly later: (act: () => void, ms: number) => void;
  readonly fail: (error: unknown) => void;
}

export class RemovalSteps<T> {
  /** Aborts a scrub that waits for readers. */
  readonly #ending = new AbortController();
  #redactionsFailed = 0;
  #scrubbing: Promise<void> | null = null;

  constructor(
    private readonly deps: RemovalDeps,
    private readonly site: RemovalSite<T>,
  ) {}

  begin(step: RemovalStep): void {
    if (step.type === 'redact') void this.#redact(step.work);
    else if (step.type === 'drop_snapshots') void this.#dropSnapshots();
    else this.#scrubbing = this.#scrub();
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#scrubbing;
  }

  /**
   * Makes snapshots, replica and stream forget erased players. The replica is loaded first, because without snapshots
   * it would have to read the whole log. Resolves with false, without removing any, if `mayDrop` returns false by then.
   */
  async forgetErased(mayDrop: () => boolean = () => true): Promise<boolean> {
    await this.deps.pool.follow(this.site.storedSeq());
    await this.deps.publishErasures();
    if (!mayDrop()) return false;
    await this.site.dropSnapshots();
    // A replica that was replaced meanwhile may have started from a removed snapshot: it must read the erasures first.
    await this.deps.pool.follow(this.site.storedSeq());
    return true;
  }

  async #redact(work: RedactionWork): Promise<void> {
    const { removal, report, ended, closed, later } = this.site;
    const { pool, timers, observer, onFailure } = this.deps;
    const started = timers.elapsed();
    try {
      // An erasure needs the replica before its commit. If that cannot load, others continue without this job.
      if (work.type === 'removal' && work.erasures.length > 0) await pool.follow(this.site.storedSeq());
      const piece = await (work.type === 'removal' ? pool.redact(work) : pool.retire(work));
      observer.workDone('redaction', true, timers.elapsed() - started);
      if (!ended()) report(removal.redacted(piece));
    } catch (error) {
      if (closed()) return;
      observer.workDone('redaction', false, timers.elapsed() - started);
      onFailure('redaction', error);
      const waitMs = Math.min(limits.workRetryMs * 2 ** this.#redactionsFailed++, limits.redactionRetryMaxMs);
      later(() => report(removal.again()), waitMs);
      report(removal.failed());
    }
  }

  async #dropSnapshots(): Promise<void> {
    const { removal, report, ended, closed } = this.site;
    try {
      // The last snapshot of a stop stays, and so do those of a failed node: the next start uses them.
      if (!(await this.forgetErased(() => !ended()))) return;
    } catch (error) {
      if (!closed()) this.#repeat({ type: 'drop_snapshots' }, 'removing snapshots', error);
      return;
    }
    if (closed()) return;
    removal.snapshotsDropped();
    report([]);
  }

  async #scrub(): Promise<void> {
    const { removal, report, closed, fail } = this.site;
    try {
      await this.deps.log.scrub(this.#ending.signal);
    } catch (error) {
      if (!(error instanceof ScrubDeferredError)) fail(error);
      else if (!closed()) this.#repeat({ type: 'scrub' }, 'overwriting free space', error);
      return;
    }
    this.#redactionsFailed = 0;
    removal.scrubbed();
    report([]);
  }

  #repeat(step: RemovalStep, what: string, error: unknown): void {
    this.deps.onFailure(what, error);
    this.site.later(() => this.begin(step), limits.workRetryMs);
  }
}
