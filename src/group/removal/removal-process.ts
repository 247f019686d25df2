/**
 * Removes erased subjects, withdrawn events and events beyond the retention age from the log, and answers the callers
 * that wait for it. Part of the actor: no promises and no I/O. `removal-steps.ts` carries out its steps, and the pool
 * rewrites batches by `redaction.ts`. Work that is not recorded as done resumes after a restart.
 *
 * A removal begins with a durable record, its request: `subject_erased` (an erasure), `event_withdrawn` (a withdrawal,
 * or each event of an upheld dispute), or with the bound of the retention age. Its states, and what leads to the next:
 *
 *   requested   until no job is in progress; the oldest requests make one job     -> piece
 *   piece       the pool rewrites a bounded piece of the batches                  -> snapshots, commit, or failed
 *   snapshots   before the log forgets the first subject of the job, the snapshot -> commit
 *               in progress ends and all are removed: one would restore the player
 *   commit      the next turn writes the piece, and its commit replaces batches   -> piece, or after the last: scrub
 *   scrub       the free space of the log is overwritten                          -> record
 *   record      the next turn records that the job is done                        -> complete; callers are answered
 *   failed      waits for `again` while others continue; a job that fails twice   -> requested, as two halves
 *               is split, so that a damaged batch delays only those that need it
 *
 * Snapshots go late, because a start uses them to skip a damaged batch. Events beyond the retention age leave in jobs
 * of one piece each, so that an erasure never waits long; if one fails, they wait for the next bound.
 */
import type { LogRecord } from '../../core/records/records.js';
import { carriedSums } from '../../core/rules/decide-removal.js';
import type { GroupState } from '../../core/state.js';
import { type Refusal, refused } from '../../errors.js';
import { limits } from '../../limits.js';
import type { Answer } from '../actor-commands.js';
import type { RedactionPiece, RedactionWork, RemovalPiece, RemovalWork, RetentionPiece } from '../ports/pool.js';

/** A step outside the actor; `snapshotsDropped`, `redacted` or `failed`, and `scrubbed` report its end. */
export type RemovalStep =
  | { readonly type: 'drop_snapshots' }
  | { readonly type: 'redact'; readonly work: RedactionWork }
  | { readonly type: 'scrub' };

interface AnswerEffect<T> {
  readonly type: 'answer';
  readonly token: T;
  readonly answer: Answer;
}

export type RemovalEffect<T> = RemovalStep | AnswerEffect<T>;

export interface WaitingAnswer<T> {
  readonly token: T;
  readonly answer: Answer;
  readonly seq: number;
  /** The `subject_erased` record of an erasure, or the withdrawn event. */
  readonly erasure?: number;
  readonly withdrawal?: number;
}

/** Events received before `before` must leave, as of `now`; both in ms since 1970. */
export interface AgeBound {
  readonly before: number;
  readonly now: number;
}

interface Removals {
  readonly erasures: readonly number[];
  readonly withdrawals: readonly number[];
}

interface RemovalJob extends Removals {
  readonly type: 'removal';
  work: RemovalWork | null;
  readonly retried?: true;
  withoutSnapshots?: true;
  waitsFor: 'snapshots' | 'piece' | 'commit' | 'scrub' | 'record';
}

/** A retention is one piece, or the free space after the last one. */
type Job = RemovalJob | { readonly type: 'retention'; waitsFor: 'piece' | 'commit' | 'scrub' | 'record' };

export class RemovalProcess<T> {
  #waiting: WaitingAnswer<T>[] = [];
  /** True once answers no longer wait for bytes to leave the log. */
  #givenUp = false;
  /** True if the turn in flight records an erasure as complete, which is not durable yet. */
  #endsErasure = false;
  #job: Job | null = null;
  #piece: RedactionPiece | null = null;
  /** While events older than that may still be there. */
  #retention: (AgeBound & { readonly upTo: number }) | null = null;
  #expireUpTo = 0;
  /**
   * Whether events may leave by their age: freed space is reused, but carried sums and overwritten pages grow the file.
   */
  mayExpire = true;
  /** Whether erasures and withdrawals may start, and a piece of any job be committed. */
  mayRemove = true;
  /** Whether the last job was one by age. The next one is of another kind, if there is any. */
  #expiredLast = false;
  /** Failed removals, the earliest failure first, and whether they may be retried. */
  #failed: Removals[] = [];
  #mayRetry = true;

  constructor(
    private readonly state: GroupState,
    private readonly durableSeq: () => number,
  ) {}

  get hasRecord(): boolean {
    if (!this.mayRemove) return false;
    return this.#job?.waitsFor === 'record' || (this.#job?.waitsFor === 'commit' && this.#piece !== null);
  }

  get busy(): boolean {
    return this.#job !== null;
  }

  /** True from the state `snapshots` of an erasure until its completion is durable. */
  get forbidsSnapshots(): boolean {
    const job = this.#job;
    if (this.#endsErasure) return true;
    return job?.type === 'removal' && (job.waitsFor === 'snapshots' || job.withoutSnapshots === true);
  }

  /** A removal that is durable but not complete counts only while its caller waits. */
  get isAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  /** Starts the next job if none is in progress. Processes durable records only, and events older than the bound. */
  resume(expireBefore?: AgeBound): RemovalStep[] {
    const durableSeq = this.durableSeq();
    // Records of the redaction itself are never included, whatever the clock says.
    if (expireBefore !== undefined) this.#retention = { ...expireBefore, upTo: durableSeq };
    if (this.#job !== null) return [];
    const isTurnOfAge = !this.#expiredLast;
    this.#expiredLast = false;
    return (
      (isTurnOfAge ? this.#expire(durableSeq) : null) ?? this.#remove(durableSeq) ?? this.#expire(durableSeq) ?? []
    );
  }

  /** Null if no event is too old. */
  #expire(durableSeq: number): RemovalStep[] | null {
    if (!this.mayExpire) return null;
    const { retired } = this.state;
    this.#lookForOld();
    const isDue = retired.seq < this.#expireUpTo;
    if (!isDue && !retired.open) return null;
    this.#expiredLast = true;
    this.#job = { type: 'retention', waitsFor: isDue ? 'piece' : 'scrub' };
    if (!isDue) return [{ type: 'scrub' }];
    const work = { type: 'retention', after: retired.seq, upTo: this.#expireUpTo, durable: durableSeq } as const;
    return [{ type: 'redact', work }];
  }

  #lookForOld(): void {
    const { retired, times } = this.state;
    if (this.#retention === null || retired.seq < this.#expireUpTo) return;
    const { before, now, upTo } = this.#retention;
    this.#expireUpTo = times.lastBefore(retired.seq, upTo, before, now, limits.retentionLookMoments);
    if (this.#expireUpTo === retired.seq) this.#retention = null;
  }

  #remove(durableSeq: number): RemovalStep[] | null {
    const { erasures: asked, withdrawals: withdrawn } = this.state;
    if (!this.mayRemove || asked.size + withdrawn.size === 0) return null;
    const retried = this.#mayRetry ? this.#failed.shift() : undefined;
    if (retried !== undefined) return this.#begin(retried, { retried: true });
    const failed = new Set(this.#failed.flatMap(({ erasures, withdrawals }) => [...erasures, ...withdrawals]));
    const isOpen = (key: number, seq: number) => seq <= durableSeq && !failed.has(key);
    const erasures = firstOf(asked, limits.redactionErasures, (seq) => isOpen(seq, seq));
    const withdrawals = firstOf(withdrawn, limits.redactionWithdrawals, (event, { seq }) => isOpen(event, seq));
    return erasures.length + withdrawals.length === 0 ? null : this.#begin({ erasures, withdrawals });
  }

  #begin({ erasures, withdrawals }: Removals, more: { retried?: true } = {}): RemovalStep[] {
    const chains = erasures.flatMap((seq) => {
      const { subject, heads } = this.state.erasures.get(seq)!;
      // If the records no longer contain the subject, a crash preceded the scrub.
      return subject === null ? [] : heads;
    });
    const work = { type: 'removal', events: withdrawals, chains, erasures, tagKey: this.state.idTags.key } as const;
    this.#job = { type: 'removal', erasures, withdrawals, ...more, work, waitsFor: 'piece' };
    return [{ type: 'redact', work }];
  }

  /** A piece that forgets an erased subject waits until no snapshot is left. */
  redacted(piece: RedactionPiece): RemovalStep[] {
    const job = this.#expect('piece');
    if (job.type === 'removal' && piece.type === 'removal') return this.#removed(job, piece);
    job.waitsFor = 'commit';
    this.#piece = piece;
    return [];
  }

  #removed(job: RemovalJob, piece: RemovalPiece): RemovalStep[] {
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
   * Other jobs continue. The failed one may be retried after `again`, split in two if this was its second attempt.
   * Events that leave by their age wait for the next bound.
   */
  failed(): RemovalStep[] {
    const job = this.#expect('piece');
    this.#job = null;
    if (job.type === 'retention') {
      this.#retention = null;
      this.#expireUpTo = 0;
    } else {
      const { erasures, withdrawals } = job;
      this.#failed.push(...(job.retried ? halvesOf(job) : [{ erasures, withdrawals }]));
    }
    this.#mayRetry = false;
    return this.resume();
  }

  again(): RemovalStep[] {
    this.#mayRetry = true;
    return this.resume();
  }

  /** Returns the records of the next turn, with the batches to replace in its transaction. */
  next(): { readonly records: readonly LogRecord[]; readonly piece: RedactionPiece | null } {
    const piece = this.#piece;
    this.#piece = null;
    if (piece !== null) {
      const records = piece.type === 'removal' ? this.#erased(piece) : this.#expired(piece);
      return { records: [...records, { type: 'batches_rewritten', batches: piece.digests }], piece };
    }
    const job = this.#expect('record');
    this.#job = null;
    this.#endsErasure = job.type === 'removal';
    if (job.type === 'retention')
      return { records: [{ type: 'events_retired', up_to: this.state.retired.seq, done: true }], piece: null };
    return { records: [{ type: 'redacted', erasures: job.erasures, withdrawals: job.withdrawals }], piece: null };
  }

  /** Returns the events that leave with an erasure, without those that their peer had withdrawn before. */
  #erased({ erased }: RemovalPiece): LogRecord[] {
    return [...erased].flatMap(([peer, seqs]): LogRecord[] => {
      const events = seqs.filter((seq) => !this.state.withdrawals.has(seq));
      return events.length === 0 ? [] : [{ type: 'events_erased', peer, events }];
    });
  }

  #expired(piece: RetentionPiece): LogRecord[] {
    // If nothing was removed, the free space has no removed bytes.
    const done = piece.rewrites.length === 0 && !this.state.retired.open;
    const carried = piece.pairs.flatMap(({ subject, peer }) => carriedSums(this.state, subject, peer) ?? []);
    return [...carried, { type: 'events_retired', up_to: piece.upTo, done }];
  }

  committed(): RemovalEffect<T>[] {
    this.#endsErasure = false;
    return [...this.#proceed(), ...this.#answers(), ...this.resume()];
  }

  #proceed(): RemovalStep[] {
    const job = this.#job;
    if (job?.waitsFor !== 'commit' || this.#piece !== null) return [];
    if (job.type === 'removal') return this.#walk(job);
    this.#job = null;
    return [];
  }

  answerLater(removals: readonly WaitingAnswer<T>[]): void {
    this.#waiting.push(...removals);
  }

  /** From now on, answers wait only for durability, and no longer for bytes to leave the log: the node ends. */
  giveUp(): RemovalEffect<T>[] {
    this.#givenUp = true;
    return this.#answers();
  }

  /** Answers the callers of every durable removal, because another node continues it, also one that failed here. */
  answerDurable(): RemovalEffect<T>[] {
    this.#failed = [];
    return this.#answers('this node no longer leads; the erasure is recorded and continues on the next leader', true);
  }

  refuseInFlight(refusal: Refusal): AnswerEffect<T>[] {
    return this.#answer((removal) => (removal.seq <= this.durableSeq() ? null : refusal));
  }

  /** With `early` answers every durable removal: a withdrawal already counts, an erasure is answered as incomplete. */
  #answers(
    text = 'the node shuts down; the erasure is recorded and continues at the next start',
    early = this.#givenUp,
  ): AnswerEffect<T>[] {
    const { erasures, withdrawals } = this.state;
    return this.#answer(({ answer, erasure = 0, withdrawal = 0, seq }) => {
      const isOpen = erasures.has(erasure) || withdrawals.has(withdrawal);
      if (isOpen && !(early && seq <= this.durableSeq())) return null;
      if (!isOpen || erasure === 0) return answer;
      return refused('dependency_unavailable', { text, details: { recorded: true } });
    });
  }

  /** `answerOf` returns null for callers that still wait. */
  #answer(answerOf: (removal: WaitingAnswer<T>) => Answer | null): AnswerEffect<T>[] {
    const effects: AnswerEffect<T>[] = [];
    this.#waiting = this.#waiting.filter((removal) => {
      const answer = answerOf(removal);
      if (answer !== null) effects.push({ type: 'answer', token: removal.token, answer });
      return answer === null;
    });
    return effects;
  }

  scrubbed(): void {
    this.#expect('scrub').waitsFor = 'record';
  }

  #walk(job: RemovalJob): RemovalStep[] {
    job.waitsFor = job.work === null ? 'scrub' : 'piece';
    return job.work === null ? [{ type: 'scrub' }] : [{ type: 'redact', work: job.work }];
  }

  #expect(waitsFor: Job['waitsFor']): Job {
    if (this.#job?.waitsFor !== waitsFor) throw notWaiting(waitsFor);
    return this.#job;
  }
}

/** Returns the first keys, at most `max`, whose entries are open. */
function firstOf<V>(
  entries: ReadonlyMap<number, V>,
  max: number,
  isOpen: (key: number, value: V) => boolean,
): number[] {
  const open: number[] = [];
  for (const [key, value] of entries) {
    if (open.length === max) break;
    if (isOpen(key, value)) open.push(key);
  }
  return open;
}

function notWaiting(waitsFor: Job['waitsFor']): Error {
  return new Error(`removal: no job waits for ${waitsFor}`);
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
