/**
 * Implements the actor of one group, the only owner of the group's state. It has no promises, no clock and no I/O:
 * `loop.ts` calls its methods to report what happened, and carries out the effects that they return. One turn is in
 * flight at a time, and its answers are returned once the turn is durable.
 */

import type { GroupBounds } from '../../core/commands.js';
import { type Batch, BatchWriter } from '../../core/records/batch.js';
import type { GroupState } from '../../core/state.js';
import { type Refusal, refused } from '../../errors.js';
import type { Answer, Command } from '../commands.js';
import type { StoredBatch } from '../ports/log.js';
import type { RedactionPiece } from '../ports/pool.js';
import { batchFrom, Follower } from '../recovery/recovery.js';
import { overloaded } from '../refusals.js';
import { type AgeBound, Redactor } from '../removal/redactor.js';
import type { Effect } from './effects.js';
import { type Envelope, Mailbox, type TurnBounds } from './mailbox.js';
import { Prefetch } from './prefetch.js';
import { type Removal, Turn } from './turn.js';

export class GroupActor<T> {
  readonly state: GroupState;
  readonly #turnBounds: TurnBounds | undefined;
  readonly #bounds: GroupBounds;
  readonly #mailbox = new Mailbox<Command, T>();
  #chain: Uint8Array;
  #durableChain: Uint8Array;
  #durableSeq: number;
  /** Answers that wait for the commit in flight; null if none is in flight. */
  #inFlight: Effect<T>[] | null = null;
  readonly #prefetch: Prefetch;
  readonly #batch = new BatchWriter();
  readonly #redactor: Redactor;
  /** Answers that wait until bytes are out of the log. */
  #removals: Removal<T>[] = [];
  #givenUp = false;
  /** True if the turn in flight records an erasure as complete, which is not durable yet. */
  #endsErasure = false;

  /** `chain` is the chain value of the newest batch of the log from which `state` was read. */
  constructor(state: GroupState, chain: Uint8Array, bounds: GroupBounds, turn?: TurnBounds) {
    this.state = state;
    this.#turnBounds = turn;
    this.#chain = chain;
    this.#durableChain = chain;
    this.#bounds = bounds;
    this.#durableSeq = state.lastSeq;
    this.#prefetch = new Prefetch(state);
    this.#redactor = new Redactor(state);
  }

  get durableSeq(): number {
    return this.#durableSeq;
  }

  get durableHead(): { readonly lastSeq: number; readonly chain: Uint8Array } {
    return { lastSeq: this.#durableSeq, chain: this.#durableChain };
  }

  get mailbox(): Pick<Mailbox<Command, T>, 'events' | 'bytes' | 'eventsBefore' | 'eventsOf'> {
    return this.#mailbox;
  }

  get hasTurn(): boolean {
    return this.#inFlight === null && (!this.#mailbox.empty || this.#redactor.hasRecord);
  }

  /**
   * True if a caller waits for an answer. A removal that is durable but not complete counts only while its caller
   * waits.
   */
  get answering(): boolean {
    return this.#inFlight !== null || !this.#mailbox.empty || this.#removals.length > 0;
  }

  /** True if snapshots were removed for an erasure that is not complete yet: meanwhile no snapshot may be written. */
  get erasing(): boolean {
    return this.#redactor.erasing || this.#endsErasure;
  }

  get isSettled(): boolean {
    return this.#inFlight === null && this.state.lastSeq === this.#durableSeq && !this.#redactor.busy;
  }

  precedes(stored: StoredBatch): boolean {
    return batchFrom(stored).follows(this.#chain, this.state.lastSeq);
  }

  /** Applies the next durable batch, which another node decided. No turn may be in flight. */
  follow(stored: StoredBatch): void {
    if (this.#inFlight !== null) throw new Error('actor: a turn is in flight');
    const follower = new Follower(this.state, this.#chain);
    follower.follow(batchFrom(stored));
    this.#chain = follower.chain;
    this.#durableChain = follower.chain;
    this.#durableSeq = this.state.lastSeq;
  }

  /** Queues a command; false if the mailbox is full. */
  offer(envelope: Envelope<Command, T>): boolean {
    return this.#mailbox.offer(envelope);
  }

  /**
   * Makes room for a command of a holder with few events by refusing commands of a holder with more; returns the
   * answers to the refused commands.
   */
  makeRoomFor(envelope: Envelope<Command, T>): Effect<T>[] {
    return this.#mailbox.pushOutFor(envelope).map(({ token, events }) => {
      return { type: 'answer', token, answer: Array.from({ length: events }, overloaded) };
    });
  }

  /** Refuses every waiting command that satisfies `isRefused`. */
  refuseWaiting(isRefused: (command: Command) => boolean, refusal: Refusal): Effect<T>[] {
    return this.#mailbox.removeWhere(isRefused).map(({ command, token, events }) => {
      const answer = command.type === 'submit' ? Array.from({ length: events }, () => refusal) : refusal;
      return { type: 'answer', token, answer };
    });
  }

  /**
   * Gives up all waits for the turn in flight and for removals that are not durable yet, because their outcome will not
   * be known in time. Returns the answers.
   */
  refuseInFlight(refusal: Refusal): Effect<T>[] {
    const late: Effect<T>[] = [];
    if (this.#inFlight !== null) {
      for (const effect of this.#inFlight) {
        if (effect.type === 'answer') late.push({ ...effect, answer: refusalFor(effect.answer, refusal) });
      }
      this.#inFlight = this.#inFlight.filter(({ type }) => type !== 'answer');
    }
    this.#removals = this.#removals.filter(({ token, seq }) => {
      if (seq <= this.#durableSeq) return true;
      late.push({ type: 'answer', token, answer: refusal });
      return false;
    });
    return late;
  }

  /**
   * Takes a turn: decides and applies waiting commands, and requests one commit. `now` stamps every record of the turn.
   */
  takeTurn(now: number, nonce: Uint8Array): Effect<T>[] {
    if (this.#inFlight !== null) throw new Error('actor: a turn is in flight');
    const turn = new Turn<T>(this.state, this.#bounds, now, this.#prefetch, this.#batch);
    const redaction = this.#redactor.hasRecord ? this.#redactor.next() : null;
    for (const record of redaction?.records ?? []) turn.record(record);
    this.#endsErasure = redaction?.records[0]?.type === 'redacted';
    turn.decideAll(this.takeCommands());
    this.#removals.push(...turn.removals);
    if (turn.batch.count === 0) return turn.effects;
    const firstSeq = this.state.lastSeq - turn.batch.count + 1;
    const batch = turn.batch.seal(firstSeq, now, nonce, this.#chain);
    this.#chain = batch.chain;
    this.#inFlight = turn.effects;
    return [commitOf(batch, redaction?.piece?.rewrites ?? [])];
  }

  protected takeCommands(): Envelope<Command, T>[] {
    return this.#mailbox.takeTurn(this.#turnBounds);
  }

  committed(): Effect<T>[] {
    if (this.#inFlight === null) throw new Error('actor: no turn is in flight');
    const effects = this.#inFlight;
    this.#inFlight = null;
    this.#endsErasure = false;
    this.#durableSeq = this.state.lastSeq;
    this.#durableChain = this.#chain;
    effects.push(...this.#redactor.committed(), ...this.#answerRemovals(), ...this.resume());
    return effects;
  }

  /** Takes a piece of the present redaction that the pool returned. */
  redacted(piece: RedactionPiece): Effect<T>[] {
    return this.#redactor.redacted(piece);
  }

  workFailed(): Effect<T>[] {
    return this.#redactor.failed(this.#durableSeq);
  }

  tryAgain(): Effect<T>[] {
    return this.#redactor.again(this.#durableSeq);
  }

  snapshotsDropped(): void {
    this.#redactor.snapshotsDropped();
  }

  scrubbed(): void {
    this.#redactor.scrubbed();
  }

  /**
   * Starts the next redaction if none is in progress; a start also calls it to continue unfinished ones. Events older
   * than `expireBefore` leave the log from now on.
   */
  resume(expireBefore?: AgeBound): Effect<T>[] {
    if (expireBefore !== undefined) this.#redactor.expireBefore(expireBefore, this.#durableSeq);
    return this.#redactor.start(this.#durableSeq);
  }

  /** Sets whether expired events may leave the log. To continue once they may, call `resume`. */
  set mayExpire(may: boolean) {
    this.#redactor.mayExpire = may;
  }

  /** Sets whether erased or withdrawn events may leave the log. To continue once they may, call `resume`. */
  set mayRemove(may: boolean) {
    this.#redactor.mayRemove = may;
  }

  /** From now on, answers wait only for durability, and no longer for bytes to leave the log. */
  giveUpRemovals(): Effect<T>[] {
    this.#givenUp = true;
    return this.#answerRemovals();
  }

  /**
   * Answers the removals whose completion is durable. After `giveUpRemovals` it answers every durable one: a withdrawal
   * already counts, and an erasure is answered as incomplete. Both continue in the background.
   */
  #answerRemovals(): Effect<T>[] {
    if (this.#removals.length === 0) return [];
    const { erasures, withdrawals } = this.state;
    const text = 'the node shuts down; the erasure is recorded and continues at the next start';
    const details = { recorded: true } as const;
    const later = refused('dependency_unavailable', { text, details });
    const effects: Effect<T>[] = [];
    this.#removals = this.#removals.filter((removal) => {
      const { token, answer, erasure = 0, withdrawal = 0, seq } = removal;
      const isOpen = erasures.has(erasure) || withdrawals.has(withdrawal);
      if (isOpen && !(this.#givenUp && seq <= this.#durableSeq)) return true;
      effects.push({ type: 'answer', token, answer: isOpen && erasure > 0 ? later : answer });
      return false;
    });
    return effects;
  }
}

/** Returns the answer to a command in place of `answer`, which depends on records that may not be durable. */
function refusalFor(answer: Answer, refusal: Refusal): Answer {
  if (Array.isArray(answer)) return answer.map(() => refusal);
  return answer !== null && typeof answer === 'object' && 'ok' in answer ? refusal : answer;
}

function commitOf<T>(batch: Batch, rewrites: readonly StoredBatch[]): Effect<T> {
  const { firstSeq, bytes, count } = batch;
  return { type: 'commit', batch: { firstSeq, bytes }, records: count, rewrites };
}
