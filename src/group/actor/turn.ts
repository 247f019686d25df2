/** Decides the commands of one turn in order, applies their records at once, and collects them in one batch. */
import type { EraseSubject, EventSubmission, GroupBounds, SubmitEvents, WithdrawEvent } from '../../core/commands.js';
import type { Decision } from '../../core/decision.js';
import { evidenceAt } from '../../core/evidence/decay.js';
import { type EventTypeId, isMeasure, revokesLowering } from '../../core/evidence/event-types.js';
import type { BatchWriter } from '../../core/records/batch.js';
import type { DecidedEvent, LogRecord } from '../../core/records/records.js';
import { decideAllowed, decideDisallowed } from '../../core/rules/decide-allowed.js';
import { decideDispute, decideDisputeOpened } from '../../core/rules/decide-dispute.js';
import { counts, decideByKeys, noteBeginning } from '../../core/rules/decide-event.js';
import { decideCarrier, decideOrigin } from '../../core/rules/decide-origin.js';
import {
  decidePeerChange,
  decidePreTrust,
  decidePurge,
  decideRegistration,
  decideRelation,
} from '../../core/rules/decide-peer.js';
import {
  decideErasure,
  decideErasureRefused,
  decideExport,
  decideRevocation,
  decideWithdrawal,
  readAgain,
} from '../../core/rules/decide-removal.js';
import { repeatsAccepted, repeatsOf } from '../../core/rules/decide-repeat.js';
import { decideEpoch, decideScoring, decideSetting, decideWeights } from '../../core/rules/decide-setting.js';
import type { GroupState } from '../../core/state.js';
import { bytesOf, EventColumns, type EventKeys } from '../../core/tables/event-columns.js';
import { granted, type Outcome } from '../../errors.js';
import { limits } from '../../limits.js';
import { chainsOf, holdingsOf } from '../access/subject-holdings.js';
import { disputeView } from '../access/views.js';
import type { Answer, Answers, Command } from '../actor-commands.js';
import type { AcceptedEvent } from '../api.js';
import type { StoredBatch } from '../ports/storage.js';
import type { RemovalEffect, WaitingAnswer } from '../removal/removal-process.js';
import type { Envelope } from './mailbox.js';

export type Effect<T> =
  | {
      readonly type: 'commit';
      readonly batch: StoredBatch;
      readonly records: number;
      readonly rewrites: readonly StoredBatch[];
    }
  | DecidedEvents
  | RemovalEffect<T>;

export interface DecidedEvents {
  readonly type: 'decided';
  readonly eventType: string;
  readonly outcome: string;
  readonly events: number;
}

export type Resolve = (answer: Answer) => void;

/** `effects` are carried out once the turn's records are durable. */
export class Turn<T> {
  readonly effects: Effect<T>[] = [];
  readonly removals: WaitingAnswer<T>[] = [];
  readonly #accepted: Outcome<AcceptedEvent>;
  readonly #uncounted: Outcome<AcceptedEvent>;
  readonly #decided = new Map<EventTypeId, { -readonly [K in keyof DecidedEvents]: DecidedEvents[K] }>();

  constructor(
    private readonly state: GroupState,
    private readonly bounds: GroupBounds,
    private readonly now: number,
    private readonly prefetch: Prefetch,
    readonly batch: BatchWriter,
  ) {
    this.#accepted = granted({ receivedAt: now });
    this.#uncounted = granted({ receivedAt: now, counts: false });
  }

  record(record: LogRecord): void {
    this.batch.add(record);
    this.state.apply(record, this.now);
  }

  /** Like `record`, for an event that was looked up by `keys`. */
  recordEvent(event: DecidedEvent, keys: EventKeys): void {
    this.batch.addEvent(event, keys);
    this.state.applyEvent(event, keys, this.now);
  }

  decideAll(envelopes: readonly Envelope<Command, T>[]): void {
    for (let from = 0; from < envelopes.length; ) {
      const to = this.prefetch.look(envelopes, from);
      for (; from < to; from++) this.#run(envelopes[from]!);
    }
  }

  #run({ command, token }: Envelope<Command, T>): void {
    if (command.type === 'erase') this.#erase(command, token);
    else if (command.type === 'withdraw') this.#withdraw(command, token);
    else this.effects.push({ type: 'answer', token, answer: this.#answer(command) });
  }

  #answer(command: Exclude<Command, { type: 'erase' | 'withdraw' }>): Answer {
    const state = this.state;
    switch (command.type) {
      case 'submit':
        return this.#submitAll(command);
      case 'register':
        return this.#decide(decideRegistration(state, this.bounds, command, this.now));
      case 'allow':
        return this.#decide(decideAllowed(state, command, this.now));
      case 'disallow':
        return this.#decide(decideDisallowed(state, command, this.now));
      case 'pre_trust':
        return this.#decide(decidePreTrust(state, command, this.now));
      case 'purge_peers':
        return this.#decide(decidePurge(state, command, this.now));
      case 'relate_peers':
        return this.#decide(decideRelation(state, command, this.now));
      case 'origin':
        return this.#decide(decideOrigin(state, command, this.now));
      case 'open_dispute':
        return answered(this.#decide(decideDisputeOpened(state, command, this.now)), () => ({ openedAt: this.now }));
      case 'decide_dispute':
        // Read now, because a later erasure in the same turn may remove the dispute before the answer.
        return answered(this.#decide(decideDispute(state, command, this.now)), () =>
          disputeView(state, state.disputes.byId(command.disputeId)!),
        );
      case 'export_subject':
        return answered(this.#decide(decideExport(state, command, this.now)), () => holdingsOf(state, command.subject));
      case 'refuse_erasure':
        return this.#decide(decideErasureRefused(state, command, this.now));
      case 'scoring':
        return this.#decide(decideScoring(state, this.now));
      case 'setting':
        return this.#decide(decideSetting(state, command, this.now));
      case 'locate':
        return { seq: state.eventIds.seqOf(state.idTags.of(command.eventId)), asOf: state.redacted };
      case 'chains':
        return chainsOf(state, command.subject);
      case 'publish_weights':
        return this.#decide(decideWeights(state, command.weights, this.now));
      default:
        return this.#decide(decidePeerChange(state, command, this.now));
    }
  }

  #decide<A>(decision: Decision<A>): Outcome<A> {
    for (const record of decision.records) this.record(record);
    return decision.outcome;
  }

  #submitAll(command: SubmitEvents): Answers['submit'] {
    const { events } = command;
    const keys = events.map(() => this.prefetch.next());
    const { unknown: checks, known } = repeatsOf(this.state, command, keys);
    if (checks.length > 0) {
      const { retired, withdrawals } = this.state;
      return { type: 'repeats_unknown', events, checks, expired: retired.seq, withdrawn: [...withdrawals.keys()] };
    }
    const accepted: number[] = [];
    return keys.map((of, i) => {
      const repeats = known.has(i) || repeatsAccepted(this.state, command, i, of, accepted);
      const outcome = this.#submit(command, i, of, repeats);
      if (outcome.ok) accepted.push(i);
      return outcome;
    });
  }

  #submit({ caller, events }: SubmitEvents, i: number, keys: EventKeys, repeats: boolean): Outcome<AcceptedEvent> {
    const state = this.state;
    const submission = events[i]!;
    let decided = decideByKeys(state, caller, submission, this.now, keys, repeats);
    const { origin } = submission;
    if (decided.ok && origin !== undefined) {
      const carried = decideCarrier(state, state.peers.byId(submission.peerId)!, origin, decided.value.peer);
      if (carried !== null) this.record(carried);
    }
    const moved = decided.ok
      ? decideEpoch(state, evidenceAt(submission.timestamp, this.now), isMeasure(decided.value.event_type))
      : null;
    if (moved !== null) {
      this.record(moved);
      decided = decideByKeys(state, caller, submission, this.now, keys, repeats);
    }
    const { eventType } = submission;
    if (!decided.ok) {
      this.effects.push({ type: 'decided', eventType, outcome: decided.code, events: 1 });
      return decided;
    }
    this.#countAccepted(eventType, decided.value.event_type);
    if (decided.before !== null) noteBeginning(state, decided.value, decided.before);
    this.recordEvent(decided.value, keys);
    if (revokesLowering(decided.value)) {
      const revocation = decideRevocation(state, decided.value, bytesOf(submission.subject!));
      if (revocation !== null) this.record(revocation);
    }
    return counts(decided.value) ? this.#accepted : this.#uncounted;
  }

  #countAccepted(eventType: string, id: EventTypeId): void {
    const counted = this.#decided.get(id);
    if (counted !== undefined) {
      counted.events++;
      return;
    }
    const first = { type: 'decided', eventType, outcome: 'accepted', events: 1 } as const;
    this.#decided.set(id, first);
    this.effects.push(first);
  }

  /** A withdrawal is answered once the event is out of the log; a refusal with the turn. */
  #withdraw(command: WithdrawEvent, token: T): void {
    const decision = decideWithdrawal(this.state, command, this.now);
    const outcome = decision === readAgain ? readAgain : this.#decide(decision);
    if (outcome === readAgain || !outcome.ok) {
      this.effects.push({ type: 'answer', token, answer: outcome });
      return;
    }
    const answer = granted({ withdrawnAt: this.now });
    this.removals.push({ token, answer, seq: this.state.lastSeq, withdrawal: command.eventSeq });
  }

  /** An erasure is answered once the subject's bytes are out of the log; its request, or a refusal, with the turn. */
  #erase(command: EraseSubject, token: T): void {
    const outcome = this.#decide(decideErasure(this.state, this.bounds, command, this.now));
    const answer: Answers['erase'] = outcome.ok ? granted({ ...outcome.value, at: this.now }) : outcome;
    const seq = this.state.lastSeq;
    if (outcome.ok && !outcome.value.pending) this.removals.push({ token, answer, seq, erasure: seq });
    else this.effects.push({ type: 'answer', token, answer });
  }
}

function answered<A>(outcome: Outcome<unknown>, answer: () => A): Outcome<A> {
  return outcome.ok ? granted(answer()) : outcome;
}

/** Enough for a full batch; the memory that it reads stays in a core's second-level cache. */
const EVENTS = limits.batchEventsMax;

export class Prefetch {
  #columns = new EventColumns(EVENTS);
  #next = 0;

  constructor(private readonly state: GroupState) {}

  /** Returns the index at which the next call begins. */
  look(envelopes: readonly { readonly command: Command }[], from: number): number {
    const events: EventSubmission[] = [];
    let to = from;
    for (; to < envelopes.length; to++) {
      const { command } = envelopes[to]!;
      if (command.type !== 'submit') continue;
      if (events.length > 0 && events.length + command.events.length > EVENTS) break;
      for (const event of command.events) events.push(event);
    }
    this.#next = 0;
    // A single command may have more events.
    if (events.length > this.#columns.capacity) this.#columns = new EventColumns(events.length);
    const columns = this.#columns;
    columns.count = 0;
    for (const { subject } of events) columns.addKey(subject);
    const eventIds = events.map(({ eventId }) => eventId);
    this.state.idTags.writeAll(eventIds, columns.tags);
    this.state.prefetch(columns);
    return to;
  }

  next(): EventKeys {
    return { columns: this.#columns, i: this.#next++ };
  }
}
