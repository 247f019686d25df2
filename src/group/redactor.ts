/**
 * Takes erased subjects and withdrawn events out of the log, one job at a time, each with some of both, the oldest first:
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
  /** What is still to be walked; null: nothing. */
  work: RedactionWork | null;
  waitsFor: 'snapshots' | 'piece' | 'commit' | 'scrub' | 'record';
}

export class Redactor {
  readonly #state: GroupState;
  #job: Job | null = null;
  #piece: RedactionPiece | null = null;

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
    const { erasures, chains } = this.#openErasures(durableSeq);
    const withdrawals = this.#openWithdrawals(durableSeq);
    if (erasures.length === 0 && withdrawals.length === 0) return [];
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
  take(): { readonly record: LogRecord; readonly piece: RedactionPiece | null } {
    const piece = this.#piece;
    this.#piece = null;
    if (piece !== null) return { record: { type: 'batches_rewritten', batches: piece.digests }, piece };
    const { erasures, withdrawals } = this.#expect('record');
    this.#job = null;
    return { record: { type: 'redacted', erasures, withdrawals } satisfies Redacted, piece: null };
  }

  /** A turn is durable. */
  committed(): RedactorStep[] {
    const job = this.#job;
    return job?.waitsFor === 'commit' && this.#piece === null ? this.#walk(job) : [];
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
