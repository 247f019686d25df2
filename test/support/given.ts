/** Given/when/then for the core: a state built from records, and commands decided on it, without clock and store. */
import { hash } from 'node:crypto';
import { decideEvent } from '../../bench/core/decide-event.js';
import type { SubjectKey } from '../../src/core/columns/packed-keys.js';
import type { EventSubmission, WithdrawEvent } from '../../src/core/commands.js';
import type { Decision } from '../../src/core/decision.js';
import { asOfTime } from '../../src/core/evidence/decay.js';
import { eventTypeNamed, isMeasure } from '../../src/core/evidence/event-types.js';
import { type TrustConstants, trustConstants } from '../../src/core/evidence/trust-constants.js';
import { auditPart, auditStart } from '../../src/core/records/audit.js';
import { pairRecordsTo } from '../../src/core/records/pair-records.js';
import type { EventAccepted, GroupFormed, LogRecord } from '../../src/core/records/records.js';
import { noteBeginning } from '../../src/core/rules/decide-event.js';
import { decideCarrier, decideOrigin } from '../../src/core/rules/decide-origin.js';
import { decidePeerChange, decideRegistration } from '../../src/core/rules/decide-peer.js';
import { decideRevocation, decideWithdrawal, headOfPair, readAgain } from '../../src/core/rules/decide-removal.js';
import { decideEpoch, SCORING_VERSION } from '../../src/core/rules/decide-setting.js';
import { explanationOf } from '../../src/core/scoring/explanation.js';
import { type TrustView, trustOf } from '../../src/core/scoring/score.js';
import { GroupState } from '../../src/core/state.js';
import { keyOf } from '../../src/core/tables/event-columns.js';
import type { PairEvidence } from '../../src/core/tables/peer-entries.js';
import { computeGroupTrust, type PeerTrust } from '../../src/core/trust/peer-trust.js';
import { Scratch } from '../../src/core/trust/votes/scratch.js';
import type { PeerStatus } from '../../src/core/vocabulary.js';
import type { Outcome } from '../../src/errors.js';
import { type WeightColumns, weightsOf, weightsRecord } from './weights.js';

/** 2026-01-01T00:00:00Z */
export const t0 = Date.UTC(2026, 0, 1);
export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
export const salt = Buffer.from('a salt of sixteen bytes');

export const bounds = { peersMax: 2_000, erasureQuotaPerDay: 3, erasureMode: 'peer' } as const;

/** A group of the newest version of scoring; measures last six times as long as claims, as they do by default. */
export function formedRecord(halfLifeDays = 0): GroupFormed {
  return {
    type: 'group_formed',
    group_id: 'test',
    identity_mode: 'privacy-first',
    environment: 'dev',
    salt_digest: '00',
    node_secret: '11'.repeat(32),
    half_life_days: halfLifeDays,
    ban_half_life_days: 6 * halfLifeDays,
    epoch: t0,
    scoring: SCORING_VERSION,
    audit: auditPart(auditStart, 1, t0, { action: 'group_formed', actor: 'test', target: 'test' }),
  };
}

/** Returns the subject of a short name. */
export const subjectOf = (name: string): Buffer => hash('sha256', name, 'buffer');

/** Returns the same subject as the key of an event. */
export const subjectKeyOf = (name: string): SubjectKey => keyOf(subjectOf(name));

/** An event that `peer-0` reports about a player. */
export function submissionOf(eventId: string, player: string, more: Partial<EventSubmission> = {}): EventSubmission {
  return {
    schemaVersion: '1.0.0',
    eventId,
    eventType: 'report_cheating',
    peerId: 'peer-0',
    subject: subjectKeyOf(player),
    gameId: 'g1',
    severity: 1,
    timestamp: t0,
    ...more,
  };
}

/** A state under test, and every record that made it. */
export class Given {
  readonly state: GroupState;
  readonly records: { record: LogRecord; at: number }[] = [];
  #events = 0;

  /** `scoring`: the version with which the group begins. */
  constructor(halfLifeDays = 0, scoring: number = SCORING_VERSION) {
    const formed = { ...formedRecord(halfLifeDays), scoring };
    this.state = new GroupState(formed, salt);
    this.apply([formed], t0);
  }

  apply(records: readonly LogRecord[], at: number): void {
    for (const record of records) {
      this.state.apply(record, at);
      this.records.push({ record, at });
    }
  }

  /** Applies the records of a decision; returns its outcome. */
  done<T>({ records, outcome }: Decision<T>, now = t0): Outcome<T> {
    this.apply(records, now);
    return outcome;
  }

  /** Registers peers at a time, named `peer-0`, `peer-1`, … with the games g1 and g2. */
  peers(count: number, at = t0, name?: string): this {
    for (let i = 0; i < count; i++) {
      const index = this.state.numbers;
      const command = {
        peerId: `peer-${index}`,
        peerName: name ?? `Peer ${index}`,
        gameIds: ['g1', 'g2'],
        keyDigest: `key-${index}`,
        by: 'test',
      };
      this.apply(decideRegistration(this.state, bounds, command, at).records, at);
    }
    return this;
  }

  setStatus(peerId: string, status: PeerStatus, now = t0): Outcome<unknown> {
    return this.done(decidePeerChange(this.state, { type: 'peer_status', peerId, status, by: 'test' }, now), now);
  }

  /** Declares an origin, or removes it. */
  origin(name: string, change: 'add' | 'remove' = 'add'): this {
    this.apply(decideOrigin(this.state, { change, name, by: 'test' }, t0).records, t0);
    return this;
  }

  /** Computes the weights from all evidence at a time, and publishes them. */
  compute(at = t0, constants: TrustConstants = trustConstants): PeerTrust {
    const trust = computeGroupTrust(this.state, at, constants, new Scratch(), this.state.relations);
    this.apply([weightsRecord(trust, this.state.lastSeq, at)], at);
    return trust;
  }

  /** The score of a player at a time. */
  trust(player: string, at = t0): TrustView {
    return trustOf(this.state, this.row(player), asOfTime(this.state, at));
  }

  /** The explanation of a player at a time. */
  explain(player: string, at = t0): ReturnType<typeof explanationOf> {
    return explanationOf(this.state, this.row(player), asOfTime(this.state, at));
  }

  /** Publishes weights for all peers. By default all gates are open and no peer has two-sided evidence. */
  weigh({ pi, ...columns }: WeightColumns & { readonly pi?: number } = {}): this {
    const weights = weightsOf(this.state.peers.size, columns, pi);
    const based = { based_on_seq: this.state.lastSeq, computed_at: t0 };
    this.apply([{ type: 'weights_published', ...weights, ...based }], t0);
    return this;
  }

  submission(peer: number, player: string, more: Partial<EventSubmission> = {}): EventSubmission {
    return submissionOf(`event-${this.#events++}`, player, { peerId: `peer-${peer}`, ...more });
  }

  /**
   * Decides an event of a peer and applies the records. Returns the event's sequence number. `repeats`: whether the
   * event repeats another.
   */
  event(peer: number, player: string, more: Partial<EventSubmission> = {}, now = t0, repeats = false): Outcome<number> {
    const submission = this.submission(peer, player, more);
    const moved = decideEpoch(this.state, now, isMeasure(eventTypeNamed(submission.eventType).id));
    if (moved !== null) this.apply([moved], now);
    const decided = decideEvent(this.state, peer, submission, now, repeats);
    if (!decided.ok) return decided;
    const { origin } = submission;
    const sender = this.state.peers.at(peer);
    const carried = origin === undefined ? null : decideCarrier(this.state, sender, origin, decided.value.peer);
    if (carried !== null) this.apply([carried], now);
    if (decided.before !== null) noteBeginning(this.state, decided.value, decided.before);
    this.apply([decided.value], now);
    const seq = this.state.lastSeq;
    const taken = decideRevocation(this.state, decided.value, decided.value.subject);
    if (taken !== null) this.apply([taken], now);
    return { ok: true, value: seq };
  }

  /** Returns the command that withdraws the event at record `eventSeq`, as the group would build it. */
  withdrawal(caller: number | null, eventSeq: number): WithdrawEvent {
    const read = (seq: number) => this.records[seq - 1]!.record;
    const event = read(eventSeq) as EventAccepted;
    const head = headOfPair(this.state, event.subject, event.peer);
    const chain = pairRecordsTo(read, head, eventSeq, this.state.retired.seq, Number.POSITIVE_INFINITY);
    return { caller, eventSeq, event, asOf: this.state.redacted, chain, chainAsOf: this.state.lastSeq };
  }

  /** Withdraws the event at record `eventSeq`; returns `ok` or the code of the refusal. */
  withdraw(caller: number | null, eventSeq: number, now = t0): string {
    const decision = decideWithdrawal(this.state, this.withdrawal(caller, eventSeq), now);
    if (decision === readAgain) return 'read again';
    const outcome = this.done(decision, now);
    return outcome.ok ? 'ok' : outcome.code;
  }

  /**
   * What the tables hold of a pair: its sums on the scales of the state, the bits of what it follows, and its count.
   */
  sums(player: string, number = 0): PairEvidence & { readonly count: number } {
    const { subjects } = this.state;
    const entry = subjects.findEntry(this.row(player), number);
    const { entries } = subjects;
    return {
      lowering: entries.lowering(entry),
      raising: entries.raising(entry),
      measure: entries.measure(entry),
      follows: entries.follows(entry),
      count: entries.count(entry),
    };
  }

  /** The state that follows from the records, of which `replace` may replace some. */
  replayed(replace: (record: LogRecord, seq: number) => LogRecord = (record) => record): GroupState {
    const state = new GroupState(this.state.formed, salt);
    this.records.forEach(({ record, at }, i) => {
      state.apply(replace(record, i + 1), at);
    });
    return state;
  }

  row(player: string): number {
    return this.state.subjects.find(subjectOf(player));
  }
}
