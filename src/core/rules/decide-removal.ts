/** Decides withdrawals and erasures, and computes the sums of evidence that remain. */
import { limits } from '../../limits.js';
import type { EraseSubject, ExportSubject, GroupBounds, RefuseErasure, WithdrawEvent } from '../commands.js';
import { audited, type Decision, grant, refuse } from '../decision.js';
import { evidenceAt, rescaled, scaleAt } from '../evidence/decay.js';
import { isMeasure, revokesLowering } from '../evidence/event-types.js';
import { subjectHex } from '../hashing/pseudonym.js';
import { auditPart } from '../records/audit.js';
import type { ChainEvent, LoweringMass, PairRecord } from '../records/pair-records.js';
import type * as recordTypes from '../records/records.js';
import { type GroupState, MEASURES_FROM } from '../state.js';
import { OPERATOR, type PendingReason } from '../vocabulary.js';
import { quotaWaitsMs } from './quota.js';

/** Answer to a withdrawal whose event, or the pair's revoked evidence, may have changed since the log was read. */
export const readAgain = Symbol('read again');

/** Withdraws a peer's own event. Codes: event_not_found (another peer's, withdrawn, erased or expired meanwhile). */
export function decideWithdrawal(
  state: GroupState,
  command: WithdrawEvent,
  now: number,
): Decision<null> | typeof readAgain {
  if (command.asOf !== state.redacted) return readAgain;
  const { event, eventSeq } = command;
  const missing = refuse('event_not_found');
  if (command.caller !== null && command.caller !== state.origins.peerOf(event.peer)) return missing;
  const row = state.subjects.find(event.subject);
  const entry = row < 0 ? -1 : state.subjects.findEntry(row, event.peer);
  if (entry < 0 || eventSeq <= state.retired.seq || isRevoked(state, eventSeq, event)) return missing;
  const { entries } = state.subjects;
  // Only records of the pair itself affect the result. Otherwise another peer that keeps revoking evidence could delay
  // this withdrawal.
  const hasNewer = state.revokedSeq > command.chainAsOf && command.chain[0]?.seq !== entries.head(entry);
  if (hasNewer) return readAgain;
  const count = entries.count(entry) - 1;
  const sums = { lowering: loweringMass(state, entry), raising: entries.raising(entry) };
  const { hidden, counts, ...left } = sumsWithout(state, command, sums);
  const { lowering, raising } = count === 0 ? nothing : left;
  return grant(null, {
    type: 'event_withdrawn',
    peer: event.peer,
    subject: subjectHex(event.subject),
    event_seq: eventSeq,
    ...statedSums(lowering, raising, entries.follows(entry)),
    count,
    updated_at: Math.max(now, state.subjects.updatedAt(row)),
    evidence_at: state.subjects.evidenceAt(row),
    prev: entries.head(entry),
    ...(hidden === undefined ? {} : { hidden }),
    ...(counts === undefined ? {} : { counts }),
  });
}

interface Sums {
  readonly lowering: LoweringMass;
  readonly raising: number;
}

type SumsLeft = Sums & Pick<recordTypes.EventWithdrawn, 'hidden' | 'counts'>;

const noMass: LoweringMass = { claims: 0, measures: 0 };
const nothing: Sums = { lowering: noMass, raising: 0 };

/** The sums as a record states them. `follows` outlasts sums of 0: a withdrawn lifting makes no peer independent. */
function statedSums({ claims, measures }: LoweringMass, raising: number, follows: number) {
  return {
    lowering: claims,
    raising,
    ...(measures > 0 ? { measure: measures } : {}),
    ...(follows > 0 ? { follows } : {}),
  };
}

function loweringMass({ subjects: { entries } }: GroupState, entry: number): LoweringMass {
  return { claims: entries.lowering(entry), measures: entries.measure(entry) };
}

/** Returns the lowering mass that an event added, on today's scale of its kind. */
function massOf(state: GroupState, seq: number, event: Lowering): LoweringMass {
  if (event.mass >= 0) return noMass;
  if (state.scoring.version < MEASURES_FROM || !isMeasure(event.type))
    return { claims: rescaledSince(state.rescales, seq, -event.mass), measures: 0 };
  const { measureScale } = state;
  if (seq > state.scoring.seq) return { claims: 0, measures: rescaledSince(measureScale.rescales, seq, -event.mass) };
  // A ban from before the third version: its mass is on the scale of claims.
  const at = evidenceAt(event.timestamp, state.times.receivedAt(seq));
  return { claims: 0, measures: event.severity * scaleAt(at, measureScale.epoch, measureScale.halfLifeDays) };
}

type Lowering = Pick<ChainEvent, 'type' | 'timestamp' | 'severity' | 'mass'>;

function plus(sum: LoweringMass, part: LoweringMass): LoweringMass {
  return { claims: sum.claims + part.claims, measures: sum.measures + part.measures };
}

function minus(sum: LoweringMass, part: LoweringMass): LoweringMass {
  return { claims: without(sum.claims, part.claims), measures: without(sum.measures, part.measures) };
}

function takenFrom({ claims, measures }: LoweringMass): recordTypes.HiddenMass {
  return { mass: -claims, ...(measures === 0 ? {} : { measure: -measures }) };
}

/**
 * Computes the sums of a pair without an event. If a later event revoked its lowering, the hidden mass changes
 * instead; if others repeat it, the oldest of them counts from now on.
 */
function sumsWithout(state: GroupState, command: WithdrawEvent, sums: Sums): SumsLeft {
  const { event, eventSeq, chain } = command;
  const since = event.repeats === undefined ? undefined : chain.find(({ counts }) => counts === eventSeq)?.seq;
  if (event.repeats !== undefined && since === undefined) return sums;
  const revokes = revokesLowering(event);
  if (event.mass > 0) {
    const raising = without(sums.raising, rescaledSince(state.rescales, eventSeq, event.mass));
    return withRepeated(state, command, { ...sums, raising });
  }
  // The lowering mass that a withdrawn lifting restores, or that the withdrawal of any other event removes.
  const part = revokes
    ? hiddenBy(state, eventSeq, chain)
    : massOf(state, eventSeq, { ...event, type: event.event_type });
  if (!revokes && part.claims === 0 && part.measures === 0) return withRepeated(state, command, sums);
  const hiding = hidingOf(state, eventSeq, chain);
  if (hiding !== undefined) {
    const mass = revokes ? takenFrom(part) : takenFrom({ claims: -part.claims, measures: -part.measures });
    const hidden = { under: hiding, ...mass, ...(since === undefined ? {} : { since }) };
    return withRepeated(state, command, { ...sums, hidden });
  }
  const lowering = revokes ? plus(sums.lowering, part) : minus(sums.lowering, part);
  return withRepeated(state, command, { ...sums, lowering });
}

function withRepeated(state: GroupState, { event: first, eventSeq, chain }: WithdrawEvent, left: SumsLeft): SumsLeft {
  const next = chain.findLast(
    ({ seq, event }) =>
      seq > eventSeq &&
      event?.repeats === true &&
      event.type === first.event_type &&
      event.timestamp === first.timestamp &&
      !state.withdrawals.has(seq),
  );
  if (next === undefined || next.event === null) return left;
  const { seq, event } = next;
  const counts = { event_seq: seq };
  if (event.mass >= 0) {
    return { ...left, raising: left.raising + rescaledSince(state.rescales, seq, event.mass), counts };
  }
  const part = massOf(state, seq, event);
  const hiding = hidingOf(state, seq, chain);
  if (hiding === undefined) return { ...left, lowering: plus(left.lowering, part), counts };
  return { ...left, counts: { ...counts, hidden: { under: hiding, ...takenFrom(part) } } };
}

/** Returns the oldest event after `eventSeq` that revokes lowering; undefined if there is none left. */
function hidingOf(state: GroupState, eventSeq: number, chain: readonly PairRecord[]): number | undefined {
  return chain.findLast(
    ({ seq, event }) => seq > eventSeq && event?.revokesLowering === true && !state.withdrawals.has(seq),
  )?.seq;
}

/** Returns the lowering mass that would return if the event `eventSeq`, which revokes lowering, had not been sent. */
function hiddenBy(state: GroupState, eventSeq: number, chain: readonly PairRecord[]): LoweringMass {
  const before = chain.filter(({ seq }) => seq < eventSeq);
  const stated = before.find(({ lowering }) => lowering !== null);
  const { lowering } = stated ?? { lowering: null };
  const base = lowering === null ? noMass : massSince(state, stated!.seq, lowering);
  let hidden = base;
  for (const { seq, event } of before) {
    if (event !== null && event.mass < 0 && !event.repeats && !state.withdrawals.has(seq))
      hidden = plus(hidden, massOf(state, seq, event));
  }
  for (const { seq, unhidden } of chain) {
    for (const { since, under, mass } of unhidden) {
      // `before` no longer contains the withdrawn events between the two records.
      if (under !== eventSeq || (since > (stated?.seq ?? 0) && since < eventSeq)) continue;
      const { claims, measures } = massSince(state, seq, mass);
      hidden = { claims: hidden.claims - claims, measures: hidden.measures - measures };
    }
  }
  return {
    claims: hidden.claims > base.claims * 1e-12 ? hidden.claims : 0,
    measures: hidden.measures > base.measures * 1e-12 ? hidden.measures : 0,
  };
}

/** Returns the record by which an event revokes its peer's lowering evidence; null if it revokes nothing. */
export function decideRevocation(
  state: GroupState,
  event: recordTypes.DecidedEvent,
  subject: Uint8Array,
): recordTypes.LoweringRevoked | null {
  if (!revokesLowering(event)) return null;
  const carried = carriedSums(state, subject, event.peer);
  if (carried === null || (carried.lowering === 0 && carried.measure === undefined)) return null;
  const { measure: _measure, ...others } = carried;
  return { ...others, type: 'evidence_taken_back', subject: subjectHex(subject), lowering: 0 };
}

/** True if an event that is still in the log was withdrawn or erased. */
function isRevoked(state: GroupState, eventSeq: number, event: recordTypes.EventAccepted): boolean {
  if (state.withdrawals.has(eventSeq)) return true;
  const subject = subjectHex(event.subject);
  for (const [seq, erasure] of state.erasures) if (erasure.subject === subject && eventSeq < seq) return true;
  return false;
}

/** Applies the changes of scale since a record to a mass. */
function rescaledSince(rescales: GroupState['rescales'], seq: number, mass: number): number {
  let part = Math.abs(mass);
  for (const rescale of rescales) if (rescale.seq > seq) part = rescaled(part, rescale.factor);
  return Math.sign(mass) * part;
}

function massSince({ rescales, measureScale }: GroupState, seq: number, mass: LoweringMass): LoweringMass {
  return {
    claims: rescaledSince(rescales, seq, mass.claims),
    measures: rescaledSince(measureScale.rescales, seq, mass.measures),
  };
}

function without(sum: number, part: number): number {
  if (!(part > 0)) return sum;
  const rest = sum - part;
  return rest > sum * 1e-12 ? rest : 0;
}

/** Erases a subject, or asks the operator. Codes: subject_not_found, erasure_quota_exceeded, overloaded. */
export function decideErasure(
  state: GroupState,
  bounds: GroupBounds,
  command: EraseSubject,
  now: number,
): Decision<{ readonly events: number; readonly pending: boolean; readonly reason: PendingReason | null }> {
  const row = state.subjects.find(command.subject);
  const byOperator = command.caller === OPERATOR;
  const subject = subjectHex(command.subject);
  // A request may outlive its events: a restore repeats the request, but not the events after the backup. An entry of
  // the allow list needs no events.
  const { pending: requests, seqs } = state.erasureRequests.of(subject);
  const isNamed = seqs.length > 0 || state.allowed.of(subject) !== undefined;
  if (row < 0 && !(byOperator && isNamed)) return refuse('subject_not_found');
  if (!byOperator) {
    const { groupErasuresFactor: groupFactor, erasureTimesMax } = limits;
    const quota = Math.min(bounds.erasureQuotaPerDay, erasureTimesMax);
    const { own, group } = quotaWaitsMs(state, state.erasuresBy, command.caller, { quota, groupFactor }, now);
    if (own > 0 || group > 0) {
      return refuse('erasure_quota_exceeded', {
        retryAfterS: Math.ceil(Math.max(own, group) / 1000),
        details:
          own > 0 ? { quota: 'peer', per_day: quota } : { quota: 'group', per_day: quota * limits.groupErasuresFactor },
      });
    }
  }
  const mayErase = byOperator || bounds.erasureMode === 'peer';
  const needsOperator =
    bounds.erasureMode === 'operator' ? 'operator_mode' : foreignReason(state, command.caller, row, now);
  const reason = mayErase ? null : needsOperator;
  const pending = reason !== null;
  if (pending && state.erasureRequests.pending >= limits.pendingErasuresMax && requests.length === 0) {
    return refuse('overloaded', { text: 'too many erasures wait for the operator' });
  }
  const action = pending ? 'erasure_requested' : 'subject_erased';
  const isShared = command.caller >= 0 && !isOwn(state, command.caller, row);
  const shared = isShared ? sharedErasure(state, command, now) : null;
  const fact = { action, actor: command.by, target: command.commitment };
  const before = shared === null ? [] : [shared];
  const audit = auditPart(shared?.audit.hash ?? state.auditHead, state.lastSeq + 1 + before.length, now, fact);
  if (pending) {
    const record: recordTypes.LogRecord = { type: 'erasure_requested', peer: command.caller, subject, reason, audit };
    return grant({ events: 0, pending, reason }, ...before, record);
  }
  const events = row < 0 ? 0 : eventsOf(state, row);
  const record: recordTypes.LogRecord = { type: 'subject_erased', peer: command.caller, subject, events, audit };
  return grant({ events, pending, reason }, ...before, record);
}

function sharedErasure(state: GroupState, { caller, by }: EraseSubject, now: number): recordTypes.SharedErasureAsked {
  const count = (state.sharedErasures.get(caller) ?? 0) + 1;
  const audit = audited(state, now, { action: 'shared_erasure_asked', actor: by, target: `${count} so far` });
  return { type: 'shared_erasure_asked', peer: caller, audit };
}

/** Refuses the pending requests for a player. Codes: subject_not_found. */
export function decideErasureRefused(state: GroupState, command: RefuseErasure, now: number): Decision<null> {
  const { reason, by } = command;
  const subject = subjectHex(command.subject);
  const [first] = state.erasureRequests.of(subject).pending;
  if (first === undefined) return refuse('subject_not_found', { text: 'no erasure of this player is waiting' });
  // The audit log, which every peer may read, names neither the player nor the reason.
  const audit = audited(state, now, { action: 'erasure_refused', actor: by, target: `request ${first.seq}` });
  return grant(null, { type: 'erasure_refused', subject, reason, audit });
}

/** Returns the reason why an erasure is not a matter of the asking peer alone; null if it is. */
function foreignReason(state: GroupState, caller: number, row: number, now: number): PendingReason | null {
  // A new peer must not learn whether others reported the player.
  if (caller < 0 || now - state.peers.at(caller).registeredAt < limits.erasureAgeMs) return 'peer_too_new';
  return isOwn(state, caller, row) ? null : 'reported_by_others';
}

function isOwn(state: GroupState, caller: number, row: number): boolean {
  if (caller < 0) return false;
  const { entries } = state.subjects;
  for (const entry of state.subjects.entriesOf(row)) {
    if (entries.count(entry) > 0 && state.origins.peerOf(entries.peer(entry)) !== caller) return false;
  }
  return true;
}

/** Builds the record that preserves a pair's sums when its older records leave; null if there is no pair. */
export function carriedSums(state: GroupState, subject: Uint8Array, peer: number): recordTypes.CarriedSums | null {
  const row = state.subjects.find(subject);
  const entry = row < 0 ? -1 : state.subjects.findEntry(row, peer);
  if (entry < 0) return null;
  const { entries } = state.subjects;
  return {
    type: 'evidence_kept',
    peer,
    subject,
    ...statedSums(loweringMass(state, entry), entries.raising(entry), entries.follows(entry)),
    count: entries.count(entry),
    updated_at: state.subjects.updatedAt(row),
    evidence_at: state.subjects.evidenceAt(row),
    prev: entries.head(entry),
  };
}

/** Returns the newest record of a pair; 0 if the state has none. */
export function headOfPair(state: GroupState, subject: Uint8Array, peer: number): number {
  const row = state.subjects.find(subject);
  const entry = row < 0 ? -1 : state.subjects.findEntry(row, peer);
  return entry < 0 ? 0 : state.subjects.entries.head(entry);
}

function eventsOf({ subjects }: GroupState, row: number): number {
  let events = 0;
  for (const entry of subjects.entriesOf(row)) events += subjects.entries.count(entry);
  return events;
}

/** Decides an export. Codes: subject_not_found (nothing is held). The audit log does not name the player. */
export function decideExport(state: GroupState, command: ExportSubject, now: number): Decision<null> {
  const subject = subjectHex(command.subject);
  const isHeld =
    state.subjects.find(command.subject) >= 0 ||
    state.disputes.seqsOf(subject).length > 0 ||
    state.allowed.of(subject) !== undefined ||
    state.erasureRequests.of(subject).seqs.length > 0;
  if (!isHeld) return refuse('subject_not_found', { text: 'no data is held about this subject' });
  const audit = audited(state, now, { action: 'subject_exported', actor: command.by, target: command.commitment });
  return grant(null, { type: 'subject_exported', audit });
}
