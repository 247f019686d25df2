/**
 * Between the actor and the oracle: which command was decided in which turn, what it must answer, and which turn is
 * durable. A turn that a crash caught in flight is kept or taken back by what the recovered log says.
 */

import type { EventAccepted } from '../../src/core/records/records.js';
import type { ComputedWeights } from '../../src/core/rules/decide-setting.js';
import type { GroupState } from '../../src/core/state.js';
import type { Outcome } from '../../src/errors.js';
import type { Resolve } from '../../src/group/actor/turn.js';
import type { Answer, Command } from '../../src/group/actor-commands.js';
import type { WeightsWithSignals } from '../../src/group/ports/pool.js';
import { Difference, same } from './difference.js';
import { decideFollows, lowerersOf } from './evidence.js';
import type { AuditedFact, EventFact, Fact } from './facts.js';
import { BeginningList } from './first-peers.js';
import { columns } from './fit-votes.js';
import type { TurnTaken } from './observed-actor.js';
import { type Expected, hex, no, type Oracle, type Seen } from './oracle.js';

/**
 * Answer to a withdrawal that read what a redaction rewrote meanwhile, and to a submission whose repeats only the log
 * knows: read again. The service has a symbol for the former, and a list of checks for the latter.
 */
const again = Symbol('again');
/**
 * If several withdrawals of one event are in a turn, each with a chain that may be too old, it is unknown which one was
 * carried out.
 */
const either = Symbol('either');

type HeldAgainst = Pick<GroupState, 'redacted' | 'retired' | 'revokedSeq'>;

/** A turn whose commit is in flight. */
interface Staged {
  /** Facts before it. */
  readonly from: number;
  readonly audited: number;
  readonly lastSeq: number;
  readonly tokens: ReadonlySet<Resolve>;
}

/** A player's events at the turn of a listing: newest first; those that counted. */
export interface Listed {
  readonly events: readonly EventFact[];
  readonly live: ReadonlySet<EventFact>;
  readonly disputed: ReadonlySet<number>;
}

export class Ledger {
  readonly oracle: Oracle;
  /** The newest record that was said to be durable. */
  durableSeq: number;
  /** The newest record of a turn. */
  lastSeq: number;
  #staged: Staged | null = null;
  /** Since the start of the process. */
  #beginnings = { claims: new BeginningList(), measures: new BeginningList() };
  #expected = new Map<Resolve, Expected | Expected[] | typeof again | typeof either>();
  #audited = new Map<Resolve, AuditedFact>();
  #listed = new Map<Resolve, Listed | undefined>();
  /** The weights that the pool computed: no others may be published. */
  #computed: WeightsWithSignals[] = [];

  constructor(oracle: Oracle, lastSeq: number) {
    this.oracle = oracle;
    this.durableSeq = lastSeq;
    this.lastSeq = lastSeq;
  }

  get isInFlight(): boolean {
    return this.#staged !== null;
  }

  /** Entries of the audit log that are durable. */
  get durableAudit(): readonly AuditedFact[] {
    return this.oracle.facts.of('audited').slice(0, this.#staged?.audited);
  }

  /**
   * A turn was taken: the same commands are put to the oracle. `redacted` and `retired`: what withdrawals of it were
   * held against.
   */
  turn(
    { now, mails, accepted, withdrawn, records, own, lastSeq, lowering }: TurnTaken,
    { redacted, retired, revokedSeq }: HeldAgainst,
  ): void {
    const { facts } = this.oracle;
    const staged = { from: facts.all.length, audited: facts.of('audited').length, lastSeq, tokens: new Set<Resolve>() };
    const seenBy = (token: Resolve): Seen => ({
      repeats: (id) => accepted.get(id)?.repeats === true,
      follows: (event) =>
        decideFollows(this.oracle, event, this.#beginnings) ?? accepted.get(event.id)?.follows === true,
      reporters: (subject, at) =>
        lowerersOf(this.oracle, subject, at, (number) => lowering.get(token)?.has(number) === true),
    });
    for (const { command, token } of mails) {
      staged.tokens.add(token);
      if (command.type === 'withdraw' && command.asOf !== redacted) {
        this.#expected.set(token, again);
        continue;
      }
      // The oracle knows what may leave the log, not what has; that nothing left too soon is held against the log
      // itself.
      if (command.type === 'withdraw' && command.eventSeq <= retired.seq) {
        this.#expected.set(token, no('event_not_found'));
        continue;
      }
      if (command.type === 'publish_weights') this.#mustBeComputed(command.weights);
      const known = facts.all.length;
      const { claims, measures } = this.#beginnings;
      const [knownClaims, knownMeasures] = [claims.length, measures.length];
      const decided = this.oracle.decide(command, now, seenBy(token));
      this.#expected.set(token, isAmbiguous(command, mails) ? either : decided);
      // The resulting sums show whether a chain was too old; here it is only known when none was.
      if (command.type === 'withdraw' && revokedSeq > command.chainAsOf && !withdrawn.has(command.eventSeq)) {
        if (facts.all.length > known) this.#expected.set(token, again);
        facts.truncate(known);
      }
      if (command.type === 'submit' && !isTaken(facts.all.slice(known), accepted)) {
        this.#expected.set(token, again);
        facts.truncate(known);
        claims.truncate(knownClaims);
        measures.truncate(knownMeasures);
      }
      for (const fact of facts.all.slice(known)) {
        if (fact.kind === 'event')
          same('follows', `event ${fact.id}`, accepted.get(fact.id)?.follows === true, fact.follows === true);
      }
      if (command.type === 'erase') this.#audited.set(token, facts.of('audited').at(-1)!);
      if (command.type === 'chains') this.#listed.set(token, this.#listing(hex(command.subject)));
    }
    // A note on a shared erasure is a record of its own; every other audited fact is part of one.
    const isRecord = (fact: (typeof facts.all)[number]) =>
      fact.kind !== 'audited' || fact.action === 'shared_erasure_asked';
    const made = facts.all.slice(staged.from).filter(isRecord).length;
    same('records', `of a turn of ${mails.length} commands`, records - own, made);
    same('records', 'newest record of a turn', lastSeq, this.lastSeq + records);
    this.lastSeq = lastSeq;
    if (records > 0) this.#staged = staged;
  }

  /** The replica computed weights from the log up to a record that is durable. */
  computed(upTo: number, weights: WeightsWithSignals): void {
    const { based_on_seq: basedOnSeq } = weights;
    // A replica that was loaded meanwhile may stand at a commit that nobody was told of yet.
    if (basedOnSeq < upTo || basedOnSeq > (this.#staged?.lastSeq ?? this.durableSeq)) {
      throw new Difference('weights', `weights for record ${upTo} are based on ${basedOnSeq}`);
    }
    this.#computed.push(weights);
  }

  /** Published is what was computed, in the order in which it was. */
  #mustBeComputed(published: ComputedWeights): void {
    const { based_on_seq: basedOnSeq, computed_at: computedAt } = published;
    const at = this.#computed.findIndex((one) => one.based_on_seq === basedOnSeq && one.computed_at === computedAt);
    const found = this.#computed.splice(0, at + 1).at(-1);
    if (at < 0 || found === undefined)
      throw new Difference('weights', `nobody computed those for record ${basedOnSeq}`);
    const numbersOf = (weights: ComputedWeights) => {
      const flat = { ...weights, ...weights.measures };
      return [weights.pi, ...columns.flatMap((name) => [...flat[name]]), ...weights.witness];
    };
    same('weights', 'published', numbersOf(published), numbersOf(found));
  }

  #listing(subject: string): Listed | undefined {
    if (!this.oracle.knows(subject)) return undefined;
    const events = this.oracle.eventsOf(subject).reverse();
    const peers = new Set(events.map(({ peer }) => peer));
    return {
      events,
      live: new Set(this.oracle.liveOf(subject).reverse()),
      disputed: new Set([...peers].filter((peer) => this.oracle.isDisputed(subject, peer))),
    };
  }

  durable(): void {
    if (this.#staged === null) throw new Difference('durable', 'a commit that no turn asked for');
    this.durableSeq = this.#staged.lastSeq;
    this.#staged = null;
  }

  /** An answer left the actor; those of withdrawals are compared here, since no caller sees each of them. */
  answered(token: Resolve, answer: Answer): void {
    if (this.#staged?.tokens.has(token)) throw new Difference('durable', 'an answer left before its turn was durable');
    const expected = this.#expected.get(token);
    if (expected === either) return;
    if (answer !== null && typeof answer === 'object' && 'checks' in answer) {
      if (Array.isArray(expected) && expected.some(({ ok }) => ok))
        throw new Difference('answer', 'a submission was taken, and is to be sent again');
      this.#expected.set(token, again);
      return;
    }
    if (Array.isArray(answer)) {
      this.#submitted(answer, expected);
      return;
    }
    if (typeof answer === 'symbol' || expected === again) {
      if (typeof answer !== typeof expected)
        throw new Difference('answer', 'a withdrawal looked at what was rewritten meanwhile');
    } else if (isWithdrawal(expected)) same('answer', 'withdrawal', answer, expected);
  }

  /** Notes the accepted and refused events of a submission, in the turn that took it. */
  #submitted(answers: readonly Outcome<unknown>[], expected: Expected | Expected[] | symbol | undefined): void {
    const code = (one: Outcome<unknown> | Expected) => (one.ok ? 'accepted' : one.code);
    if (!Array.isArray(expected)) throw new Difference('answer', 'a submission was answered before it was decided');
    same('answer', 'submission', answers.map(code), expected.map(code));
  }

  /** True if a submission must be sent again with the log's answers; its answer is then that of a later turn. */
  wasSentAgain(token: Resolve): boolean {
    return this.#expected.get(token) === again;
  }

  expectedOf(token: Resolve, what: string): Expected | Expected[] {
    const expected = this.#expected.get(token);
    this.#expected.delete(token);
    if (expected === undefined || expected === again || expected === either)
      throw new Difference('answer', `${what}: answered before it was decided`);
    return expected;
  }

  auditedBy(token: Resolve): AuditedFact | undefined {
    const fact = this.#audited.get(token);
    this.#audited.delete(token);
    return fact;
  }

  listed(token: Resolve): Listed | undefined {
    const listed = this.#listed.get(token);
    this.#listed.delete(token);
    return listed;
  }

  isStaged(fact: Fact): boolean {
    return this.#staged !== null && this.oracle.facts.all.indexOf(fact, this.#staged.from) >= 0;
  }

  /** True if another erasure of the subject is still in progress. */
  isBeingErased(state: GroupState, subject: string): boolean {
    return [...state.erasures.values()].some((erasure) => erasure.subject === subject);
  }

  /** Notes the result of a restart: the turn in flight is in the log, or it never was. */
  recovered(lastSeq: number): 'none' | 'kept' | 'lost' {
    if (lastSeq < this.durableSeq) {
      throw new Difference('lost', `the log ends at record ${lastSeq}, though ${this.durableSeq} was acknowledged`);
    }
    const staged = this.#staged;
    if (staged !== null && lastSeq === staged.lastSeq) this.durableSeq = lastSeq;
    else if (staged !== null) this.oracle.facts.truncate(staged.from);
    if (lastSeq !== this.durableSeq)
      throw new Difference('lost', `the log holds record ${lastSeq}, which nobody wrote`);
    this.#staged = null;
    this.#beginnings = { claims: new BeginningList(), measures: new BeginningList() };
    this.lastSeq = lastSeq;
    this.#expected.clear();
    this.#audited.clear();
    this.#listed.clear();
    this.#computed = [];
    if (staged === null) return 'none';
    return lastSeq === staged.lastSeq ? 'kept' : 'lost';
  }
}

/**
 * True if the oracle's part of a submission equals the accepted one; a submission is decided as a whole or not at all.
 */
function isTaken(facts: readonly Fact[], accepted: ReadonlyMap<string, EventAccepted>): boolean {
  const first = facts.find((fact) => fact.kind === 'event');
  if (first === undefined) return true;
  const event = accepted.get(first.id);
  if (event === undefined) return false;
  // Another submission of the same turn may have the same id.
  const { peer, timestamp, severity, subject } = event;
  const isSameContent = timestamp === first.timestamp && severity === first.severity && hex(subject) === first.subject;
  return isSameContent && peer === first.number;
}

function isWithdrawal(expected: Expected | Expected[] | undefined): expected is Expected {
  if (expected === undefined || Array.isArray(expected) || !expected.ok) return false;
  return typeof expected.value === 'object' && expected.value !== null && 'withdrawnAt' in expected.value;
}

function isAmbiguous(command: Command, mails: TurnTaken['mails']): boolean {
  if (command.type !== 'withdraw') return false;
  const { eventSeq } = command;
  return mails.filter(({ command: other }) => other.type === 'withdraw' && other.eventSeq === eventSeq).length > 1;
}
