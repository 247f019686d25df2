/**
 * Implements the actor of one group, the only owner of its state: no promises, no clock, no I/O. `loop.ts` reports to
 * it what happened, and carries out the effects that it returns. One turn is in flight at a time.
 */
import type { GroupBounds } from '../../core/commands.js';
import { BatchWriter } from '../../core/records/batch.js';
import type { GroupState } from '../../core/state.js';
import type { Refusal } from '../../errors.js';
import type { Answer, Command } from '../actor-commands.js';
import type { StoredBatch } from '../ports/storage.js';
import { batchFrom, type Follower } from '../recovery/recovery.js';
import { overloaded } from '../refusals.js';
import { RemovalProcess } from '../removal/removal-process.js';
import { type Envelope, Mailbox, type TurnBounds } from './mailbox.js';
import { type Effect, Prefetch, Turn } from './turn.js';

export class GroupActor<T> {
  readonly state: GroupState;
  readonly removal: RemovalProcess<T>;
  readonly #mailbox = new Mailbox<Command, T>();
  #durableChain: Uint8Array;
  durableSeq: number;
  /** Answers that wait for the commit in flight. */
  #inFlight: Effect<T>[] | null = null;
  readonly #prefetch: Prefetch;
  readonly #batch = new BatchWriter();

  /** `follower` has read the log to its end. */
  constructor(
    private readonly follower: Follower,
    private readonly bounds: GroupBounds,
    private readonly turnBounds?: TurnBounds,
  ) {
    const { state, chain } = follower;
    this.state = state;
    this.#durableChain = chain;
    this.durableSeq = state.lastSeq;
    this.#prefetch = new Prefetch(state);
    this.removal = new RemovalProcess(state, () => this.durableSeq);
  }

  get durableHead(): { readonly lastSeq: number; readonly chain: Uint8Array } {
    return { lastSeq: this.durableSeq, chain: this.#durableChain };
  }

  get mailbox(): Pick<Mailbox<Command, T>, 'events' | 'bytes' | 'eventsBefore' | 'eventsOf'> {
    return this.#mailbox;
  }

  get hasTurn(): boolean {
    return this.#inFlight === null && (!this.#mailbox.empty || this.removal.hasRecord);
  }

  get answering(): boolean {
    return this.#inFlight !== null || !this.#mailbox.empty || this.removal.isAwaited;
  }

  /** True if the state equals the durable log, and nothing in progress depends on another state. */
  get isSettled(): boolean {
    return this.#inFlight === null && this.state.lastSeq === this.durableSeq && !this.removal.busy;
  }

  precedes(stored: StoredBatch): boolean {
    return batchFrom(stored).follows(this.follower.chain, this.state.lastSeq);
  }

  /** Applies the next durable batch, which another node decided. No turn may be in flight. */
  follow(stored: StoredBatch): void {
    if (this.#inFlight !== null) throw new Error('actor: a turn is in flight');
    this.follower.follow(batchFrom(stored));
    this.#durableChain = this.follower.chain;
    this.durableSeq = this.state.lastSeq;
  }

  offer(envelope: Envelope<Command, T>): boolean {
    return this.#mailbox.offer(envelope);
  }

  /** Refuses commands of holders with more events to make room for one of a holder with few. */
  makeRoomFor(envelope: Envelope<Command, T>): Effect<T>[] {
    return this.#mailbox.pushOutFor(envelope).map(({ token, events }) => {
      return { type: 'answer', token, answer: Array.from({ length: events }, overloaded) };
    });
  }

  refuseWaiting(isRefused: (command: Command) => boolean, refusal: Refusal): Effect<T>[] {
    return this.#mailbox.removeWhere(isRefused).map(({ command, token, events }) => {
      const answer = command.type === 'submit' ? Array.from({ length: events }, () => refusal) : refusal;
      return { type: 'answer', token, answer };
    });
  }

  /** Gives up all waits for outcomes that will not be known in time. */
  refuseInFlight(refusal: Refusal): Effect<T>[] {
    const late: Effect<T>[] = [];
    if (this.#inFlight !== null) {
      for (const effect of this.#inFlight) {
        if (effect.type === 'answer') late.push({ ...effect, answer: refusalFor(effect.answer, refusal) });
      }
      this.#inFlight = this.#inFlight.filter(({ type }) => type !== 'answer');
    }
    return [...late, ...this.removal.refuseInFlight(refusal)];
  }

  /** `now` stamps every record of the turn. */
  takeTurn(now: number, nonce: Uint8Array): Effect<T>[] {
    if (this.#inFlight !== null) throw new Error('actor: a turn is in flight');
    const turn = new Turn<T>(this.state, this.bounds, now, this.#prefetch, this.#batch);
    const redaction = this.removal.hasRecord ? this.removal.next() : null;
    for (const record of redaction?.records ?? []) turn.record(record);
    turn.decideAll(this.takeCommands());
    this.removal.answerLater(turn.removals);
    if (turn.batch.count === 0) return turn.effects;
    const firstSeq = this.state.lastSeq - turn.batch.count + 1;
    const batch = turn.batch.seal(firstSeq, now, nonce, this.follower.chain);
    this.follower.chain = batch.chain;
    this.#inFlight = turn.effects;
    const { bytes, count: records } = batch;
    return [{ type: 'commit', batch: { firstSeq, bytes }, records, rewrites: redaction?.piece?.rewrites ?? [] }];
  }

  /** Removes and returns the commands of the next turn. Tests observe it. */
  protected takeCommands(): Envelope<Command, T>[] {
    return this.#mailbox.takeTurn(this.turnBounds);
  }

  committed(): Effect<T>[] {
    if (this.#inFlight === null) throw new Error('actor: no turn is in flight');
    const effects = this.#inFlight;
    this.#inFlight = null;
    this.durableSeq = this.state.lastSeq;
    this.#durableChain = this.follower.chain;
    effects.push(...this.removal.committed());
    return effects;
  }
}

/** Replaces an answer that depends on records that may not be durable. */
function refusalFor(answer: Answer, refusal: Refusal): Answer {
  if (Array.isArray(answer)) return answer.map(() => refusal);
  return answer !== null && typeof answer === 'object' && 'ok' in answer ? refusal : answer;
}
