/**
 * Takes erased subjects and withdrawn events out of the log, one job at a time, erasures first:
 *
 *   (snapshots removed) -> piece walked -> piece committed -> ... -> free space overwritten -> recorded as done
 *
 * Part of the actor: no promises and no I/O. What is not recorded as done is taken up again after a restart.
 */
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
  /** What is still to be walked. */
  heads: readonly number[];
  waitsFor: 'snapshots' | 'piece' | 'commit' | 'scrub' | 'record';
}

export class Redactor {
  readonly #state: GroupState;
  #job: Job | null = null;
  #piece: RedactionPiece | null = null;

  constructor(state: GroupState) {
    this.#state = state;
  }

  get idle(): boolean {
    return this.#job === null;
  }

  /** Whether the next turn has something to write for it. */
  get hasRecord(): boolean {
    return this.#piece !== null || this.#job?.waitsFor === 'record';
  }

  /** Takes up the next job where none is under way. Only what is durable is worked on. */
  start(durableSeq: number): RedactorStep[] {
    if (this.#job !== null) return [];
    this.#job = this.#nextErasure(durableSeq) ?? this.#nextWithdrawals(durableSeq);
    if (this.#job === null) return [];
    if (this.#job.waitsFor === 'snapshots') return [{ type: 'drop_snapshots' }];
    return [this.#walk(this.#job, durableSeq)];
  }

  #nextErasure(durableSeq: number): Job | null {
    for (const [seq, { heads, subject }] of this.#state.erasures) {
      if (seq > durableSeq) continue;
      // Where the subject is out of the records already, a crash came before the scrub.
      return { erasures: [seq], withdrawals: [], heads: subject === null ? [] : heads, waitsFor: 'snapshots' };
    }
    return null;
  }

  #nextWithdrawals(durableSeq: number): Job | null {
    const withdrawals: number[] = [];
    for (const [eventSeq, { seq }] of this.#state.withdrawals) {
      if (withdrawals.length === limits.redactionWithdrawals) break;
      if (seq <= durableSeq) withdrawals.push(eventSeq);
    }
    return withdrawals.length === 0 ? null : { erasures: [], withdrawals, heads: withdrawals, waitsFor: 'piece' };
  }

  snapshotsDropped(durableSeq: number): RedactorStep[] {
    const job = this.#expect('snapshots');
    return [this.#walk(job, durableSeq)];
  }

  /** A piece came back from the pool; the next turn writes it. */
  redacted(piece: RedactionPiece): void {
    const job = this.#expect('piece');
    job.heads = piece.heads;
    job.waitsFor = 'commit';
    this.#piece = piece;
  }

  /** The pool could not do its work: it is asked again. */
  again(durableSeq: number): RedactorStep[] {
    return [this.#walk(this.#expect('piece'), durableSeq)];
  }

  /** What the turn that begins has to write, with the batches to replace in its transaction. */
  take(): { readonly record: LogRecord; readonly piece: RedactionPiece | null } {
    const piece = this.#piece;
    this.#piece = null;
    if (piece !== null) return { record: { type: 'batches_rewritten', batches: piece.digests }, piece };
    const { erasures, withdrawals } = this.#expect('record');
    this.#job = null;
    return { record: { type: 'redacted', erasures, withdrawals } satisfies Redacted, piece: null };
  }

  /** A turn is durable. */
  committed(durableSeq: number): RedactorStep[] {
    const job = this.#job;
    if (job?.waitsFor !== 'commit' || this.#piece !== null) return [];
    if (job.heads.length > 0) return [this.#walk(job, durableSeq)];
    job.waitsFor = 'scrub';
    return [{ type: 'scrub' }];
  }

  /** The log's free space is overwritten; the next turn records it. */
  scrubbed(): void {
    this.#expect('scrub').waitsFor = 'record';
  }

  #walk(job: Job, upTo: number): RedactorStep {
    job.waitsFor = 'piece';
    return { type: 'redact', work: { erasure: job.erasures[0] ?? null, heads: job.heads, upTo } };
  }

  #expect(waitsFor: Job['waitsFor']): Job {
    if (this.#job?.waitsFor !== waitsFor) throw new Error(`redactor: nothing waits for ${waitsFor}`);
    return this.#job;
  }
}
