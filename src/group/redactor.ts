/**
 * Takes erased subjects and withdrawn events out of the log, one job at a time, each with some of both, the oldest first:
 *
 *   (snapshots removed) -> piece walked -> piece committed -> ... -> free space overwritten -> recorded as done
 *
 * Events that are too old leave in jobs of one piece each, so that an erasure never waits for long, and one more for the free space.
 * Part of the actor: no promises and no I/O. What is not recorded as done is taken up again after a restart.
 */
import { keptEvidence } from '../core/decide-removal.js';
import type { LogRecord, Redacted } from '../core/records.js';
import type { GroupState } from '../core/state.js';
import { limits } from '../limits.js';
import type { RedactionPiece, RedactionWork } from './redaction.js';

/** What a step asks for; `snapshots` and `scrub` are told back to the redactor when they are done. */
export type RedactorStep =
  | { readonly type: 'drop_snapshots' }
  | { readonly type: 'redact'; readonly work: RedactionWork }
  | { readonly type: 'scrub' };

interface Job {
  readonly erasures: readonly number[];
  readonly withdrawals: readonly number[];
  /** What is still to be walked; null: nothing. */
  work: RedactionWork | null;
  /** Takes out events by their age. */
  readonly retires?: true;
  waitsFor: 'snapshots' | 'piece' | 'commit' | 'scrub' | 'record';
}

export class Redactor {
  readonly #state: GroupState;
  #job: Job | null = null;
  #piece: RedactionPiece | null = null;
  /** Batches up to this record, and of before this moment (ms since 1970), leave the log. */
  #retireUpTo = 0;
  #retireBefore = 0;
  /**
   * Whether a job may take events out by their age; one under way goes on. What that frees is used again, but the file only grows by it: by
   * the sums that are kept, and to overwrite what is free.
   */
  mayRetire = true;
  /** The last job was one by age: the next is another kind, where there is one. */
  #retiredLast = false;

  constructor(state: GroupState) {
    this.#state = state;
  }

  /** Whether the next turn has something to write for it. */
  get hasRecord(): boolean {
    return this.#piece !== null || this.#job?.waitsFor === 'record';
  }

  /** Takes up the next job where none is under way. Only what is durable is worked on. */
  start(durableSeq: number): RedactorStep[] {
    if (this.#job !== null) return [];
    const isTurnOfAge = !this.#retiredLast;
    this.#retiredLast = false;
    return (
      (isTurnOfAge ? this.#retire(durableSeq) : null) ?? this.#remove(durableSeq) ?? this.#retire(durableSeq) ?? []
    );
  }

  /** Of the records up to `upTo`, which is durable, the events of before this moment are to leave. */
  retireBefore(before: number, upTo: number): void {
    this.#retireBefore = before;
    // What the work itself writes is never part of it, wherever the clock stands.
    this.#retireUpTo = upTo;
  }

  /** The oldest events, or the free space behind the last of them; null where nothing is too old. */
  #retire(durableSeq: number): RedactorStep[] | null {
    if (!this.mayRetire) return null;
    const { retired, times } = this.#state;
    const isDue = retired.seq < this.#retireUpTo && times.receivedAt(retired.seq + 1) < this.#retireBefore;
    if (!isDue && !retired.open) return null;
    this.#retiredLast = true;
    const job = { erasures: [], withdrawals: [], retires: true } as const;
    if (!isDue) {
      this.#job = { ...job, work: null, waitsFor: 'scrub' };
      return [{ type: 'scrub' }];
    }
    const retire = { after: retired.seq, upTo: this.#retireUpTo, durable: durableSeq, before: this.#retireBefore };
    const work = { events: [], chains: [], erasures: [], retire };
    this.#job = { ...job, work, waitsFor: 'piece' };
    return [{ type: 'redact', work }];
  }

  #remove(durableSeq: number): RedactorStep[] | null {
    const { erasures, chains } = this.#openErasures(durableSeq);
    const withdrawals = this.#openWithdrawals(durableSeq);
    if (erasures.length === 0 && withdrawals.length === 0) return null;
    const work = { events: withdrawals, chains, erasures };
    const waitsFor = erasures.length > 0 ? 'snapshots' : 'piece';
    this.#job = { erasures, withdrawals, work, waitsFor };
    return waitsFor === 'snapshots' ? [{ type: 'drop_snapshots' }] : [{ type: 'redact', work }];
  }

  #openErasures(durableSeq: number): { readonly erasures: number[]; readonly chains: number[] } {
    const erasures: number[] = [];
    const chains: number[] = [];
    for (const [seq, { heads, subject }] of this.#state.erasures) {
      if (erasures.length === limits.redactionErasures) break;
      if (seq > durableSeq) continue;
      erasures.push(seq);
      // Where the subject is out of the records already, a crash came before the scrub.
      if (subject !== null) chains.push(...heads);
    }
    return { erasures, chains };
  }

  #openWithdrawals(durableSeq: number): number[] {
    const withdrawals: number[] = [];
    for (const [eventSeq, { seq }] of this.#state.withdrawals) {
      if (withdrawals.length === limits.redactionWithdrawals) break;
      if (seq <= durableSeq) withdrawals.push(eventSeq);
    }
    return withdrawals;
  }

  snapshotsDropped(): RedactorStep[] {
    return this.#walk(this.#expect('snapshots'));
  }

  /** A piece came back from the pool; the next turn writes it. */
  redacted(piece: RedactionPiece): void {
    const job = this.#expect('piece');
    job.work = piece.rest;
    job.waitsFor = 'commit';
    this.#piece = piece;
  }

  /** The pool could not do its work: it is asked again. */
  again(): RedactorStep[] {
    return this.#walk(this.#expect('piece'));
  }

  /** What the turn that begins has to write, with the batches to replace in its transaction. */
  take(): { readonly records: readonly LogRecord[]; readonly piece: RedactionPiece | null } {
    const piece = this.#piece;
    this.#piece = null;
    if (piece !== null)
      return { records: [...this.#retired(piece), { type: 'batches_rewritten', batches: piece.digests }], piece };
    const { erasures, withdrawals, retires } = this.#expect('record');
    this.#job = null;
    if (retires)
      return { records: [{ type: 'events_retired', up_to: this.#state.retired.seq, done: true }], piece: null };
    return { records: [{ type: 'redacted', erasures, withdrawals } satisfies Redacted], piece: null };
  }

  /** The sums of the pairs whose records a piece takes out, as they are now. */
  #retired({ retired, rewrites }: RedactionPiece): LogRecord[] {
    if (retired === undefined) return [];
    // What took nothing out leaves nothing behind in free space.
    const done = rewrites.length === 0 && !this.#state.retired.open;
    const kept = retired.pairs.flatMap(({ subject, peer }) => keptEvidence(this.#state, subject, peer) ?? []);
    return [...kept, { type: 'events_retired', up_to: retired.upTo, done }];
  }

  /** A turn is durable. */
  committed(): RedactorStep[] {
    const job = this.#job;
    if (job?.waitsFor !== 'commit' || this.#piece !== null) return [];
    if (!job.retires) return this.#walk(job);
    this.#job = null;
    return [];
  }

  /** The log's free space is overwritten; the next turn records it. */
  scrubbed(): void {
    this.#expect('scrub').waitsFor = 'record';
  }

  /** The next piece, or the scrub behind the last one. */
  #walk(job: Job): RedactorStep[] {
    job.waitsFor = job.work === null ? 'scrub' : 'piece';
    return job.work === null ? [{ type: 'scrub' }] : [{ type: 'redact', work: job.work }];
  }

  #expect(waitsFor: Job['waitsFor']): Job {
    if (this.#job?.waitsFor !== waitsFor) throw new Error(`redactor: nothing waits for ${waitsFor}`);
    return this.#job;
  }
}
