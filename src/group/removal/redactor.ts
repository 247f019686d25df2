/**
 * Takes erased subjects and withdrawn events out of the log, one job at a time, each with some of both, the oldest
 * first:
 *
 *   piece walked -> piece committed -> ... -> last piece walked -> (snapshots removed) -> committed -> free space
 *   overwritten -> recorded as done
 *
 * Snapshots go late, since they are the way around a batch that is damaged; but before the piece is committed with
 * which the log forgets whom it was asked to erase, as a snapshot would bring the player back. A job that fails waits,
 * while others go on, until it may be tried again, and is split in two where it fails again: one damaged batch holds up
 * what names it, and nothing else.
 *
 * Events that are too old leave in jobs of one piece each, so that an erasure never waits for long, and one more for
 * the free space. Part of the actor: no promises and no I/O. What is not recorded as done is taken up again after a
 * restart.
 */

import type { LogRecord } from '../../core/records/records.js';
import { carriedSums } from '../../core/rules/decide-removal.js';
import type { GroupState } from '../../core/state.js';
import { limits } from '../../limits.js';
import type { RedactionPiece, RedactionWork, RemovalPiece, RemovalWork, RetentionPiece } from '../ports/pool.js';

/** What a step asks for; `drop_snapshots` and `scrub` are told back to the redactor when they are done. */
export type RedactorStep =
  | { readonly type: 'drop_snapshots' }
  | { readonly type: 'redact'; readonly work: RedactionWork }
  | { readonly type: 'scrub' };

/** Events received before `before` are to leave, as of `now`; both in ms since 1970. */
export interface AgeBound {
  readonly before: number;
  readonly now: number;
}

/** `subject_erased` records, and withdrawn events. */
interface Removals {
  readonly erasures: readonly number[];
  readonly withdrawals: readonly number[];
}

interface RemovalJob extends Removals {
  readonly type: 'removal';
  /** What is still to be walked; null: nothing. */
  work: RemovalWork | null;
  /** Failed before. */
  readonly retried?: true;
  /** Snapshots were removed for it. */
  withoutSnapshots?: true;
  waitsFor: 'snapshots' | 'piece' | 'commit' | 'scrub' | 'record';
}

/** One piece of what leaves by its age, or the free space after the last one. */
interface RetentionJob {
  readonly type: 'retirement';
  waitsFor: 'piece' | 'commit' | 'scrub' | 'record';
}

type Job = RemovalJob | RetentionJob;

export class Redactor {
  readonly #state: GroupState;
  #job: Job | null = null;
  #piece: RedactionPiece | null = null;
  /** What is to leave the log by its age, while some of it may still be there. */
  #retention: (AgeBound & { readonly upTo: number }) | null = null;
  /** The record up to which that is known to be so. */
  #expireUpTo = 0;
  /**
   * Whether a job may take events out by their age; one under way goes on while `mayRemove` is set. What that frees is
   * used again, but the file only grows by it: by the sums that are kept, and to overwrite what is free.
   */
  mayExpire = true;
  /** Whether erasures and withdrawals may be taken up, and a piece of any job be committed. */
  mayRemove = true;
  /** The last job was one by age: the next is another kind, where there is one. */
  #expiredLast = false;
  /** What failed, the longest ago first, and whether it may be tried again. */
  #failed: Removals[] = [];
  #mayRetry = true;

  constructor(state: GroupState) {
    this.#state = state;
  }

  /** Whether the next turn has something to write for it. */
  get hasRecord(): boolean {
    if (!this.mayRemove) return false;
    return this.#job?.waitsFor === 'record' || (this.#job?.waitsFor === 'commit' && this.#piece !== null);
  }

  /** Whether a job is under way. */
  get busy(): boolean {
    return this.#job !== null;
  }

  /** Whether the job under way needs that there are no snapshots. What is made before, that job removes, too. */
  get erasing(): boolean {
    const job = this.#job;
    return job?.type === 'removal' && (job.waitsFor === 'snapshots' || job.withoutSnapshots === true);
  }

  /** Takes up the next job where none is under way. Only what is durable is worked on. */
  start(durableSeq: number): RedactorStep[] {
    if (this.#job !== null) return [];
    const isTurnOfAge = !this.#expiredLast;
    this.#expiredLast = false;
    return (
      (isTurnOfAge ? this.#expire(durableSeq) : null) ?? this.#remove(durableSeq) ?? this.#expire(durableSeq) ?? []
    );
  }

  /** Of the records up to `durableSeq` the events that are so old are to leave. */
  expireBefore(bound: AgeBound, durableSeq: number): void {
    // What the work itself writes is never part of it, wherever the clock stands.
    this.#retention = { ...bound, upTo: durableSeq };
  }

  /** The oldest events, or the free space after the last of them; null where nothing is too old. */
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
      // Where the subject is out of the records already, a crash came before the scrub.
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
   * A piece came back from the pool. The next turn writes it; one that forgets who was to be erased, once no snapshot
   * is left.
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
    // All of it was taken out before, by a try that failed further on.
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
   * The pool could not do its work. Others go on; it may be tried again once `again` says so, split in two where that
   * was a second try. What leaves by its age waits for the next `expireBefore`.
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

  /** What failed may be tried again. */
  again(durableSeq: number): RedactorStep[] {
    this.#mayRetry = true;
    return this.start(durableSeq);
  }

  /** What the turn that begins has to write, with the batches to replace in its transaction. */
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

  /** What is recorded with a piece beside the batches that it rewrites. */
  #toSay(piece: RedactionPiece): LogRecord[] {
    return piece.type === 'removal' ? this.#erased(piece) : this.#expired(piece);
  }

  /** The events that leave with an erasure, without those that their peer had withdrawn before. */
  #erased({ erased }: RemovalPiece): LogRecord[] {
    return [...erased].flatMap(([peer, seqs]): LogRecord[] => {
      const events = seqs.filter((seq) => !this.#state.withdrawals.has(seq));
      return events.length === 0 ? [] : [{ type: 'events_erased', peer, events }];
    });
  }

  /** The sums of the pairs whose records a piece takes out, as they are now. */
  #expired(piece: RetentionPiece): LogRecord[] {
    // What took nothing out leaves nothing behind in free space.
    const done = piece.rewrites.length === 0 && !this.#state.retired.open;
    const carried = piece.pairs.flatMap(({ subject, peer }) => carriedSums(this.#state, subject, peer) ?? []);
    return [...carried, { type: 'events_retired', up_to: piece.upTo, done }];
  }

  /** A turn is durable. */
  committed(): RedactorStep[] {
    const job = this.#job;
    if (job?.waitsFor !== 'commit' || this.#piece !== null) return [];
    if (job.type === 'removal') return this.#walk(job);
    this.#job = null;
    return [];
  }

  /** The log's free space is overwritten; the next turn records it. */
  scrubbed(): void {
    this.#expect('scrub').waitsFor = 'record';
  }

  /** The next piece, or the scrub after the last one. */
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
  return new Error(`redactor: nothing waits for ${waitsFor}`);
}

/** Smaller ones, so that what fails is met alone in the end; one alone stays as it is. */
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
