/**
 * The actor of one group: the only owner of its state. It has no promises, no clock and no I/O: calls tell it what happened,
 * and it returns effects, which a thin shell carries out. One turn is in flight at a time; its answers leave when it is durable.
 */
import type { Batch } from '../core/batch.js';
import type { GroupBounds } from '../core/commands.js';
import type { LogRecord } from '../core/records.js';
import type { GroupState, Redaction } from '../core/state.js';
import type { Answer, Answers, Command } from './commands.js';
import { type Mail, Mailbox } from './mailbox.js';
import type { StoredBatch } from './ports.js';
import type { RedactionPiece } from './redaction.js';
import { Turn } from './turn.js';

/** Work for the pool; its result comes back by `redacted` or `workFailed`. */
export interface RedactionWork {
  readonly redaction: Redaction;
  readonly heads: readonly number[];
  /** The log must be read at least up to here. */
  readonly upTo: number;
}

export type Effect<T> =
  | {
      readonly type: 'commit';
      readonly batch: StoredBatch;
      readonly records: number;
      readonly rewrites: readonly StoredBatch[];
    }
  | { readonly type: 'answer'; readonly token: T; readonly answer: Answer }
  | { readonly type: 'decided'; readonly eventType: string; readonly outcome: string }
  /** Remove every snapshot, since they may hold an erased subject; then call `snapshotsDropped`. */
  | { readonly type: 'drop_snapshots' }
  | { readonly type: 'redact'; readonly work: RedactionWork }
  /** Overwrite the free space of the log; then call `scrubbed`. */
  | { readonly type: 'scrub' };

/** The redaction under way: which, how far, and what it waits for. */
interface RedactionStep {
  readonly redaction: Redaction;
  readonly heads: readonly number[];
  readonly phase: 'snapshots' | 'walk' | 'commit' | 'scrub';
}

export class GroupActor<T> {
  readonly state: GroupState;
  readonly #bounds: GroupBounds;
  readonly #mailbox = new Mailbox<Command, T>();
  #chain: Uint8Array;
  #durableChain: Uint8Array;
  #durableSeq: number;
  /** Answers that wait for the commit in flight; null: none is in flight. */
  #inFlight: Effect<T>[] | null = null;
  #piece: RedactionPiece | null = null;
  #step: RedactionStep | null = null;
  /** Erasures whose bytes are not out of the log yet, by the record that asked. */
  readonly #erasing = new Map<number, { token: T; answer: Answers['erase'] }>();

  /** `chain` is the chain value of the newest batch of the log that `state` was read from. */
  constructor(state: GroupState, chain: Uint8Array, bounds: GroupBounds) {
    this.state = state;
    this.#chain = chain;
    this.#durableChain = chain;
    this.#bounds = bounds;
    this.#durableSeq = state.lastSeq;
  }

  /** The newest durable record. */
  get durableSeq(): number {
    return this.#durableSeq;
  }

  /** The newest durable record and the chain value of its batch. */
  get durableHead(): { readonly lastSeq: number; readonly chain: Uint8Array } {
    return { lastSeq: this.#durableSeq, chain: this.#durableChain };
  }

  get mailbox(): { readonly events: number; readonly bytes: number } {
    return this.#mailbox;
  }

  /** Whether a turn could be taken now. */
  get hasTurn(): boolean {
    return this.#inFlight === null && (!this.#mailbox.empty || this.#piece !== null);
  }

  /** Whether anything is queued, in flight or still to be taken out of the log. */
  get busy(): boolean {
    return this.#inFlight !== null || !this.#mailbox.empty || this.#piece !== null || this.#step !== null;
  }

  /** Whether an erased subject is still in the log: no snapshot may be made meanwhile. */
  get erasing(): boolean {
    for (const redaction of this.state.redactions.values()) if (redaction.kind === 'erasure') return true;
    return this.#erasing.size > 0;
  }

  /** Queues a command; false where the mailbox is full. */
  offer(mail: Mail<Command, T>): boolean {
    return this.#mailbox.offer(mail);
  }

  /** Takes what waits: decides and applies it, and asks for one commit. `now` stamps every record of the turn. */
  takeTurn(now: number, nonce: Uint8Array): Effect<T>[] {
    if (this.#inFlight !== null) throw new Error('actor: a turn is in flight');
    const turn = new Turn<T>(this.state, this.#bounds, now);
    const piece = this.#piece;
    this.#piece = null;
    if (piece !== null) turn.record(this.#rewritten(piece));
    for (const mail of this.#mailbox.take()) turn.take(mail);
    for (const erasure of turn.erasures) this.#erasing.set(erasure.seq, erasure);
    if (turn.batch.count === 0) return turn.effects;
    const firstSeq = this.state.lastSeq - turn.batch.count + 1;
    const batch = turn.batch.seal(firstSeq, now, nonce, this.#chain);
    this.#chain = batch.chain;
    this.#inFlight = turn.effects;
    return [commitOf(batch, piece?.rewrites ?? [])];
  }

  /** The commit in flight is durable: its answers may leave. */
  committed(): Effect<T>[] {
    if (this.#inFlight === null) throw new Error('actor: no turn is in flight');
    const effects = this.#inFlight;
    this.#inFlight = null;
    this.#durableSeq = this.state.lastSeq;
    this.#durableChain = this.#chain;
    if (this.#step?.phase === 'commit' && this.#piece === null) effects.push(...this.#walkOn());
    effects.push(...this.#startRedaction());
    return effects;
  }

  /** A piece of the redaction under way came back from the pool. */
  redacted(piece: RedactionPiece): void {
    if (this.#step?.phase !== 'walk') throw new Error('actor: no redaction waits for a piece');
    this.#step = { ...this.#step, heads: piece.heads, phase: 'commit' };
    this.#piece = piece;
  }

  /** The pool could not do its work; it is asked again. */
  workFailed(): Effect<T>[] {
    return this.#step === null ? [] : [this.#walk(this.#step)];
  }

  snapshotsDropped(): Effect<T>[] {
    if (this.#step?.phase !== 'snapshots') throw new Error('actor: no redaction waits for snapshots');
    return [this.#walk(this.#step)];
  }

  /** The log's free space is overwritten: what was erased is gone. */
  scrubbed(): Effect<T>[] {
    if (this.#step?.phase !== 'scrub') throw new Error('actor: no redaction waits for a scrub');
    this.#step = null;
    const effects: Effect<T>[] = [];
    for (const [seq, { token, answer }] of this.#erasing) {
      if (this.state.redactions.has(seq)) continue;
      this.#erasing.delete(seq);
      effects.push({ type: 'answer', token, answer });
    }
    return [...effects, ...this.#startRedaction()];
  }

  /** Takes up the next redaction, where none is under way; also what recovery calls to go on with unfinished ones. */
  resume(): Effect<T>[] {
    return this.#startRedaction();
  }

  #startRedaction(): Effect<T>[] {
    if (this.#step !== null) return [];
    const redaction = this.#nextRedaction();
    if (redaction === null) return [];
    const step = { redaction, heads: redaction.heads, phase: 'snapshots' } as const;
    this.#step = step;
    return redaction.kind === 'erasure' ? [{ type: 'drop_snapshots' }] : [this.#walk(step)];
  }

  #nextRedaction(): Redaction | null {
    for (const redaction of this.state.redactions.values()) if (redaction.seq <= this.#durableSeq) return redaction;
    return null;
  }

  #walk(step: RedactionStep): Effect<T> {
    this.#step = { ...step, phase: 'walk' };
    return { type: 'redact', work: { redaction: step.redaction, heads: step.heads, upTo: this.#durableSeq } };
  }

  /** After a piece is durable: the next piece, the next redaction, or the scrub that ends a series of them. */
  #walkOn(): Effect<T>[] {
    const step = this.#step!;
    if (step.heads.length > 0) return [this.#walk(step)];
    this.#step = null;
    if (this.#nextRedaction() !== null) return [];
    this.#step = { ...step, phase: 'scrub' };
    return [{ type: 'scrub' }];
  }

  #rewritten(piece: RedactionPiece): LogRecord {
    const done = piece.heads.length === 0 ? this.#step!.redaction.seq : null;
    return { type: 'batches_rewritten', batches: piece.digests, done };
  }
}

function commitOf<T>(batch: Batch, rewrites: readonly StoredBatch[]): Effect<T> {
  const { firstSeq, bytes, count } = batch;
  return { type: 'commit', batch: { firstSeq, bytes }, records: count, rewrites };
}
