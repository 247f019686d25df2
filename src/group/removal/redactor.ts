/**
 * Removes erased subjects and withdrawn events from the log, one job at a time, each with some of both, the oldest
 * first:
 *
 *   piece walked -> piece committed -> ... -> last piece walked -> (snapshots removed) -> committed -> free space
 *   overwritten -> recorded as done
 *
 * Snapshots are removed late, because a start uses them to skip a damaged batch. They must be removed before the commit
 * of the piece with which the log forgets the erased subject, because a snapshot would restore the player. A failed job
 * waits for its retry while others continue, and is split in two if it fails again, so that a damaged batch delays only
 * the removals that need it.
 *
 * Events beyond the retention age leave in jobs of one piece each, so that an erasure never waits long, and one more
 * job for the free space. Part of the actor: no promises and no I/O. Work that is not recorded as done is resumed after
 * a restart.
 */

import type { LogRecord } from '../../core/records/records.js';
import { carriedSums } from '../../core/rules/decide-removal.js';
import type { GroupState } from '../../core/state.js';
import { limits } from '../../limits.js';
import type { RedactionPiece, RedactionWork, RemovalPiece, RemovalWork, RetentionPiece } from '../ports/pool.js';

/** The action that a step requests. The caller reports to the redactor when `drop_snapshots` and `scrub` are done. */
export type RedactorStep =
  | { readonly type: 'drop_snapshots' }
  | { readonly type: 'redact'; readonly work: RedactionWork }
  | { readonly type: 'scrub' };

/** Events received before `before` must leave, as of `now`; both in ms since 1970. */
export interface AgeBound {
  readonly before: number;
  readonly now: number;
}

/** Numbers of `subject_erased` records and of withdrawn events. */
interface Removals {
  readonly erasures: readonly number[];
  readonly withdrawals: readonly number[];
}

interface RemovalJob extends Removals {
  readonly type: 'removal';
  /** The work that remains to be walked; null if there is none. */
  work: RemovalWork | null;
  readonly retried?: true;
  withoutSnapshots?: true;
  waitsFor: 'snapshots' | 'piece' | 'commit' | 'scrub' | 'record';
}

/** One piece of the events that leave by their age, or the free space after the last one. */
interface RetentionJob {
  readonly type: 'retirement';
  waitsFor: 'piece' | 'commit' | 'scrub' | 'record';
}

type Job = RemovalJob | RetentionJob;

export class Redactor {
  readonly #state: GroupState;
  #job: Job | null = null;
  #piece: RedactionPiece | null = null;
  /** Bound of the events that must leave the log by their age, while some of them may still be there. */
  #retention: (AgeBound & { readonly upTo: number }) | null = null;
  /** The last record known to be beyond the bound. */
  #expireUpTo = 0;
  /**
   * Whether a job may remove events by their age. A job in progress continues while `mayRemove` is set. The freed space
   * is reused, but the removal itself grows the file: by the carried sums, and by overwriting free pages.
   */
  mayExpire = true;
  /** Whether erasures and withdrawals may start, and a piece of any job be committed. */
  mayRemove = true;
  /** Whether the last job was one by age. The next one is of another kind, if there is any. */
  #expiredLast = false;
  /** Failed removals, the earliest failure first, and whether they may be retried. */
  #failed: Removals[] = [];
  #mayRetry = true;

  constructor(state: GroupState) {
    this.#state = state;
  }

  get hasRecord(): boolean {
    if (!this.mayRemove) return false;
    return this.#job?.waitsFor === 'record' || (this.#job?.waitsFor === 'commit' && this.#piece !== null);
  }

  get busy(): boolean {
    return this.#job !== null;
  }

  /** Whether the job in progress requires that no snapshots exist. It also removes those made before. */
  get erasing(): boolean {
    const job = this.#job;
    return job?.type === 'removal' && (job.waitsFor === 'snapshots' || job.withoutSnapshots === true);
  }

  start(durableSeq: number): RedactorStep[] {
    if (this.#job !== null) return [];
    const isTurnOfAge = !this.#expiredLast;
    this.#expiredLast = false;
    return (
      (isTurnOfAge ? this.#expire(durableSeq) : null) ?? this.#remove(durableSeq) ?? this.#expire(durableSeq) ?? []
    );
  }

  expireBefore(bound: AgeBound, durableSeq: number): void {
    // Records of the redaction itself are never included, whatever the clock says.
    this.#retention = { ...bound, upTo: durableSeq };
  }

  /** Starts the oldest events, or the free space after the last of them; null if no event is too old. */
  #expire(durableSeq: number): RedactorStep[] | null {
    if (!this.mayExpire) return null;
    const { retired } = this.#state;
    this.#lookForOld();
    const isDue = retired.seq < this.#expireUpTo;
    if (!isDue && !retired.open) return null;
    this.#expiredLast = true;
    this.#job = { type: 'retirement', waitsFor: isDue ? 'piece' : 'scrub' };
    if (!isDue) return [{ type: 'scrub' }];
    const work = { type: 'retirement', after: retired.seq, upTo: this.#expireUpTo, durable: durableSeq } as const;
    return [{ type: 'redact', work }];
  }

  #lookForOld(): void {
    const { retired, times } = this.#state;
    if (this.#retention === null || retired.seq < this.#expireUpTo) return;
    const { before, now, upTo } = this.#retention;
    this.#expireUpTo = times.lastBefore(retired.seq, upTo, before, now, limits.retentionLookMoments);
    if (this.#expireUpTo === retired.seq) this.#retention = null;
  }

  #remove(durableSeq: number): RedactorStep[] | null {
    const { erasures: asked, withdrawals: withdrawn } = this.#state;
    if (!this.mayRemove || asked.size + withdrawn.size === 0) return null;
    const retried = this.#mayRetry ? this.#failed.shift() : undefined;
    if (retried !== undefined) return this.#begin(retried, { retried: true });
    const failed = new Set(this.#failed.flatMap(({ erasures, withdrawals }) => [...erasures, ...withdrawals]));
    const isNew = (seq: number) => !failed.has(seq);
    const erasures = this.#openErasures(durableSeq, isNew);
    const withdrawals = this.#openWithdrawals(durableSeq, isNew);
    return erasures.length + withdrawals.length === 0 ? null : this.#begin({ erasures, withdrawals });
  }

  #begin({ erasures, withdrawals }: Removals, more: { retried?: true } = {}): RedactorStep[] {
    const chains = erasures.flatMap((seq) => {
      const { subject, heads } = this.#state.erasures.get(seq)!;
      // If the records no longer contain the subject, a crash preceded the scrub.
      return subject === null ? [] : heads;
    });
    const work = { type: 'removal', events: withdrawals, chains, erasures } as const;
    this.#job = { type: 'removal', erasures, withdrawals, ...more, work, waitsFor: 'piece' };
    return [{ type: 'redact', work }];
  }

  #openErasures(durableSeq: number, isNew: (seq: number) => boolean): number[] {
    const open: number[] = [];
    for (const seq of this.#state.erasures.keys()) {
      if (open.length === limits.redactionErasures) break;
      if (seq <= durableSeq && isNew(seq)) open.push(seq);
    }
    return open;
  }

  #openWithdrawals(durableSeq: number, isNew: (seq: number) => boolean): number[] {
    const open: number[] = [];
    for (const [eventSeq, { seq }] of this.#state.withdrawals) {
      if (open.length === limits.redactionWithdrawals) break;
      if (seq <= durableSeq && isNew(eventSeq)) open.push(eventSeq);
    }
    return open;
  }

  /**
   * Handles a piece from the pool. The next turn writes it. A piece that forgets an erased subject waits until no
   * snapshot is left.
   */
  redacted(piece: RedactionPiece): RedactorStep[] {
    const job = this.#expect('piece');
    if (job.type === 'removal' && piece.type === 'removal') return this.#removed(job, piece);
    job.waitsFor = 'commit';
    this.#piece = piece;
    return [];
  }

  #removed(job: RemovalJob, piece: RemovalPiece): RedactorStep[] {
    const forgets = (piece.remaining?.erasures.length ?? 0) < job.work!.erasures.length;
    job.work = piece.remaining;
    job.waitsFor = forgets && !job.withoutSnapshots ? 'snapshots' : 'commit';
    // An earlier attempt, which failed later on, has already removed all of it.
    if (job.waitsFor === 'commit' && piece.rewrites.length === 0) return this.#walk(job);
    this.#piece = piece;
    return job.waitsFor === 'snapshots' ? [{ type: 'drop_snapshots' }] : [];
  }

  snapshotsDropped(): void {
    const job = this.#job;
    if (job?.waitsFor !== 'snapshots') throw notWaiting('snapshots');
    job.withoutSnapshots = true;
    job.waitsFor = 'commit';
  }

  /**
   * Handles a failure of the pool. Other jobs continue. The failed job may be retried after `again`, split in two if
   * this was its second attempt. Events that leave by their age wait for the next `expireBefore`.
   */
  failed(durableSeq: number): RedactorStep[] {
    const job = this.#expect('piece');
    this.#job = null;
    if (job.type === 'retirement') this.#expireLater();
    else {
      const { erasures, withdrawals } = job;
      this.#failed.push(...(job.retried ? halvesOf(job) : [{ erasures, withdrawals }]));
    }
    this.#mayRetry = false;
    return this.start(durableSeq);
  }

  #expireLater(): void {
    this.#retention = null;
    this.#expireUpTo = 0;
  }

  again(durableSeq: number): RedactorStep[] {
    this.#mayRetry = true;
    return this.start(durableSeq);
  }

  /** Returns the records of the next turn, with the batches to replace in its transaction. */
  next(): { readonly records: readonly LogRecord[]; readonly piece: RedactionPiece | null } {
    const piece = this.#piece;
    this.#piece = null;
    if (piece !== null)
      return { records: [...this.#toSay(piece), { type: 'batches_rewritten', batches: piece.digests }], piece };
    const job = this.#expect('record');
    this.#job = null;
    return { records: [this.#done(job)], piece: null };
  }

  #done(job: Job): LogRecord {
    if (job.type === 'retirement') return { type: 'events_retired', up_to: this.#state.retired.seq, done: true };
    const { erasures, withdrawals } = job;
    return { type: 'redacted', erasures, withdrawals };
  }

  #toSay(piece: RedactionPiece): LogRecord[] {
    return piece.type === 'removal' ? this.#erased(piece) : this.#expired(piece);
  }

  /** Returns the events that leave with an erasure, without those that their peer had withdrawn before. */
  #erased({ erased }: RemovalPiece): LogRecord[] {
    return [...erased].flatMap(([peer, seqs]): LogRecord[] => {
      const events = seqs.filter((seq) => !this.#state.withdrawals.has(seq));
      return events.length === 0 ? [] : [{ type: 'events_erased', peer, events }];
    });
  }

  #expired(piece: RetentionPiece): LogRecord[] {
    // If nothing was removed, the free space has no removed bytes.
    const done = piece.rewrites.length === 0 && !this.#state.retired.open;
    const carried = piece.pairs.flatMap(({ subject, peer }) => carriedSums(this.#state, subject, peer) ?? []);
    return [...carried, { type: 'events_retired', up_to: piece.upTo, done }];
  }

  committed(): RedactorStep[] {
    const job = this.#job;
    if (job?.waitsFor !== 'commit' || this.#piece !== null) return [];
    if (job.type === 'removal') return this.#walk(job);
    this.#job = null;
    return [];
  }

  /** Handles the end of a scrub. The next turn records it. */
  scrubbed(): void {
    this.#expect('scrub').waitsFor = 'record';
  }

  #walk(job: RemovalJob): RedactorStep[] {
    job.waitsFor = job.work === null ? 'scrub' : 'piece';
    return job.work === null ? [{ type: 'scrub' }] : [{ type: 'redact', work: job.work }];
  }

  #expect(waitsFor: Job['waitsFor']): Job {
    if (this.#job?.waitsFor !== waitsFor) throw notWaiting(waitsFor);
    return this.#job;
  }
}

function notWaiting(waitsFor: Job['waitsFor']): Error {
  return new Error(`redactor: no job waits for ${waitsFor}`);
}

/** Splits removals, so that a failing one is finally alone. A single one stays as it is. */
function halvesOf({ erasures, withdrawals }: Removals): Removals[] {
  return [
    ...halves(erasures).map((half) => ({ erasures: half, withdrawals: [] })),
    ...halves(withdrawals).map((half) => ({ erasures: [], withdrawals: half })),
  ];
}

function halves(seqs: readonly number[]): (readonly number[])[] {
  const middle = Math.ceil(seqs.length / 2);
  return [seqs.slice(0, middle), seqs.slice(middle)].filter(({ length }) => length > 0);
}
