/** The rules of taking back: a peer's own event, and all that is held of a subject. */
import { granted } from '../../errors.js';
import { limits } from '../../limits.js';
import type { EraseSubject, GroupBounds, WithdrawEvent } from '../commands.js';
import { audited, type Decision, refuse } from '../decision.js';
import { rescaled } from '../evidence/decay.js';
import { revokesLowering } from '../evidence/event-types.js';
import { subjectHex } from '../hashing/pseudonym.js';
import { auditPart } from '../records/audit.js';
import type { ChainLink } from '../records/event-chain.js';
import type {
  CarriedSums,
  DecidedEvent,
  EventAccepted,
  EventWithdrawn,
  LogRecord,
  LoweringRevoked,
  SharedErasureAsked,
} from '../records/records.js';
import type { GroupState } from '../state.js';
import { OPERATOR, type PendingReason } from '../vocabulary.js';
import { quotaWaitsMs } from './quota.js';

/**
 * The answer to a withdrawal whose event was located before something was taken out of the log, or whose pair may have
 * taken evidence back since: look again.
 */
export const readAgain = Symbol('read again');

/**
 * A peer takes back its own event: the pair's sums without it, as values. Codes: event_not_found (another peer's,
 * withdrawn before, erased, or gone by its age since it was located).
 */
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
  // Only records of the pair tell what a withdrawal leaves. Another peer that keeps taking back must not hold it up.
  const hasNewer = state.revokedSeq > command.chainAsOf && command.chain[0]?.seq !== entries.head(entry);
  if (hasNewer) return readAgain;
  const count = entries.count(entry) - 1;
  const sums = { lowering: entries.lowering(entry), raising: entries.raising(entry) };
  const left = sumsWithout(state, command, sums);
  const record: LogRecord = {
    type: 'event_withdrawn',
    peer: event.peer,
    subject: subjectHex(event.subject),
    event_seq: eventSeq,
    lowering: count === 0 ? 0 : left.lowering,
    raising: count === 0 ? 0 : left.raising,
    count,
    updated_at: Math.max(now, state.subjects.updatedAt(row)),
    evidence_at: state.subjects.evidenceAt(row),
    prev: entries.head(entry),
    ...(left.hidden === undefined ? {} : { hidden: left.hidden }),
    ...(left.counts === undefined ? {} : { counts: left.counts }),
  };
  return { records: [record], outcome: granted(null) };
}

type Sums = Pick<EventWithdrawn, 'lowering' | 'raising'>;
type SumsLeft = Sums & Pick<EventWithdrawn, 'hidden' | 'counts'>;

/**
 * The sums of a pair without the event of a command. What a later event takes back leaves the lowering sum as it is,
 * and changes what that one hides. Where other events repeated the withdrawn one, the oldest of them counts from here
 * on.
 */
function sumsWithout(state: GroupState, command: WithdrawEvent, sums: Sums): SumsLeft {
  const { event, eventSeq, chain } = command;
  const since = event.repeats === undefined ? undefined : chain.find(({ counts }) => counts === eventSeq)?.seq;
  if (event.repeats !== undefined && since === undefined) return sums;
  const part = rescaledSince(state, eventSeq, Math.abs(event.mass));
  if (part === 0 && !revokesLowering(event)) return withRepeated(state, command, sums);
  if (event.mass > 0) return withRepeated(state, command, { ...sums, raising: without(sums.raising, part) });
  // What comes back, or goes.
  const change = revokesLowering(event) ? hiddenBy(state, eventSeq, chain) : -part;
  const hiding = hidingOf(state, eventSeq, chain);
  if (hiding !== undefined) {
    const hidden = { under: hiding, mass: -change, ...(since === undefined ? {} : { since }) };
    return withRepeated(state, command, { ...sums, hidden });
  }
  const lowering = change < 0 ? without(sums.lowering, -change) : sums.lowering + change;
  return withRepeated(state, command, { ...sums, lowering });
}

/** The sums with the oldest event that repeated that of the command; unchanged where none did. */
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
  const part = rescaledSince(state, seq, Math.abs(event.mass));
  const counts = { event_seq: seq };
  if (event.mass >= 0) return { ...left, raising: left.raising + part, counts };
  const hiding = hidingOf(state, seq, chain);
  if (hiding === undefined) return { ...left, lowering: left.lowering + part, counts };
  return { ...left, counts: { ...counts, hidden: { under: hiding, mass: -part } } };
}

/** The oldest event after `eventSeq` that takes back what its peer lowered before; undefined where none is left. */
function hidingOf(state: GroupState, eventSeq: number, chain: readonly ChainLink[]): number | undefined {
  return chain.findLast(
    ({ seq, event }) => seq > eventSeq && event?.revokesLowering === true && !state.withdrawals.has(seq),
  )?.seq;
}

/** The lowering mass that would come back if the event `eventSeq`, which takes back, had not been sent. */
function hiddenBy(state: GroupState, eventSeq: number, chain: readonly ChainLink[]): number {
  const before = chain.filter(({ seq }) => seq < eventSeq);
  const stated = before.find(({ lowering }) => lowering !== null);
  const base = stated === undefined ? 0 : rescaledSince(state, stated.seq, stated.lowering ?? 0);
  let hidden = base;
  for (const { seq, event } of before) {
    if (event !== null && event.mass < 0 && !event.repeats && !state.withdrawals.has(seq))
      hidden += rescaledSince(state, seq, -event.mass);
  }
  for (const { seq, unhidden } of chain) {
    for (const { since, under, mass } of unhidden) {
      // What was withdrawn of the events between is not among them any more.
      if (under !== eventSeq || (since > (stated?.seq ?? 0) && since < eventSeq)) continue;
      hidden -= Math.sign(mass) * rescaledSince(state, seq, Math.abs(mass));
    }
  }
  return hidden > base * 1e-12 ? hidden : 0;
}

/**
 * The record with which an event that was just taken in takes back all that its peer had lowered of the player; null
 * where it takes nothing back.
 */
export function decideRevocation(state: GroupState, event: DecidedEvent, subject: Uint8Array): LoweringRevoked | null {
  if (!revokesLowering(event)) return null;
  const carried = carriedSums(state, subject, event.peer);
  if (carried === null || carried.lowering === 0) return null;
  return { ...carried, type: 'evidence_taken_back', subject: subjectHex(subject), lowering: 0 };
}

/** Whether an event that the log still shows was withdrawn or erased already. */
function isRevoked(state: GroupState, eventSeq: number, event: EventAccepted): boolean {
  if (state.withdrawals.has(eventSeq)) return true;
  const subject = subjectHex(event.subject);
  for (const [seq, erasure] of state.erasures) if (erasure.subject === subject && eventSeq < seq) return true;
  return false;
}

/** What the changes of scale since a record made of its mass, which is not negative. */
function rescaledSince(state: GroupState, seq: number, mass: number): number {
  let part = mass;
  for (const rescale of state.rescales) if (rescale.seq > seq) part = rescaled(part, rescale.factor);
  return part;
}

/** A sum without one of its parts; what rounding leaves behind is nothing. */
function without(sum: number, part: number): number {
  if (!(part > 0)) return sum;
  const rest = sum - part;
  return rest > sum * 1e-12 ? rest : 0;
}

/**
 * Erasure of a subject, or the request for one where only the operator may. Answers how many events it takes.
 * Codes: subject_not_found, erasure_quota_exceeded (with seconds to wait).
 */
export function decideErasure(
  state: GroupState,
  bounds: GroupBounds,
  command: EraseSubject,
  now: number,
): Decision<{ readonly events: number; readonly pending: boolean; readonly reason: PendingReason | null }> {
  const row = state.subjects.find(command.subject);
  const byOperator = command.caller === OPERATOR;
  const subject = subjectHex(command.subject);
  // A request may outlive what it is about: a restore repeats it, and not the events after the backup. An entry of the
  // allow list needs no events.
  const isNamed = state.pendingErasures.has(subject) || state.allowed.of(subject) !== undefined;
  if (row < 0 && !(byOperator && isNamed)) return refuse('subject_not_found');
  if (!byOperator) {
    const { erasureQuotaPerDay: quota } = bounds;
    const { groupErasuresFactor: groupFactor } = limits;
    const { own, group } = quotaWaitsMs(state, state.erasuresBy, command.caller, { quota, groupFactor }, now);
    if (own > 0 || group > 0) {
      return refuse('erasure_quota_exceeded', {
        retryAfterS: Math.ceil(Math.max(own, group) / 1000),
        details:
          own > 0 ? { quota: 'peer', per_day: quota } : { quota: 'group', per_day: quota * limits.groupErasuresFactor },
      });
    }
  }
  const reason = byOperator ? null : pendingReason(state, bounds, command.caller, row, now);
  const pending = reason !== null;
  if (pending && state.pendingErasures.size >= limits.pendingErasuresMax && !state.pendingErasures.has(subject)) {
    return refuse('overloaded', { text: 'too many erasures wait for the operator' });
  }
  const action = pending ? 'erasure_requested' : 'subject_erased';
  const isShared = command.caller >= 0 && !isOwn(state, command.caller, row);
  const shared = isShared ? sharedErasure(state, command, now) : null;
  const fact = { action, actor: command.by, target: command.commitment };
  const before = shared === null ? [] : [shared];
  const audit = auditPart(shared?.audit.hash ?? state.auditHead, state.lastSeq + 1 + before.length, now, fact);
  if (pending) {
    const record: LogRecord = { type: 'erasure_requested', peer: command.caller, subject, audit };
    return { records: [...before, record], outcome: granted({ events: 0, pending, reason }) };
  }
  const events = row < 0 ? 0 : eventsOf(state, row);
  const record: LogRecord = { type: 'subject_erased', peer: command.caller, subject, events, audit };
  return { records: [...before, record], outcome: granted({ events, pending, reason }) };
}

/** The entry of the audit log that counts how often a peer asks for what others reported. */
function sharedErasure(state: GroupState, { caller, by }: EraseSubject, now: number): SharedErasureAsked {
  const count = (state.sharedErasures.get(caller) ?? 0) + 1;
  const audit = audited(state, now, { action: 'shared_erasure_asked', actor: by, target: `${count} so far` });
  return { type: 'shared_erasure_asked', peer: caller, audit };
}

/** Why an erasure waits for the operator; null: it does not. */
function pendingReason(
  state: GroupState,
  { erasureMode }: GroupBounds,
  caller: number,
  row: number,
  now: number,
): PendingReason | null {
  switch (erasureMode) {
    case 'peer':
      return null;
    case 'operator':
      return 'operator_mode';
    case 'own':
      // Of a new peer nothing is said of what others reported.
      if (caller < 0 || now - state.peers.at(caller).registeredAt < limits.erasureAgeMs) return 'peer_too_new';
      return isOwn(state, caller, row) ? null : 'reported_by_others';
  }
}

/** Whether a peer alone holds events about the player. */
function isOwn(state: GroupState, caller: number, row: number): boolean {
  if (caller < 0) return false;
  const { entries } = state.subjects;
  const first = state.subjects.firstEntry(row);
  for (let entry = first; entry < first + state.subjects.peerCount(row); entry++) {
    if (entries.count(entry) > 0 && state.origins.peerOf(entries.peer(entry)) !== caller) return false;
  }
  return true;
}

/**
 * The record that keeps a pair's sums where its older records leave the log; null for a pair that is not there any
 * more.
 */
export function carriedSums(state: GroupState, subject: Uint8Array, peer: number): CarriedSums | null {
  const row = state.subjects.find(subject);
  const entry = row < 0 ? -1 : state.subjects.findEntry(row, peer);
  if (entry < 0) return null;
  const { entries } = state.subjects;
  return {
    type: 'evidence_kept',
    peer,
    subject,
    lowering: entries.lowering(entry),
    raising: entries.raising(entry),
    count: entries.count(entry),
    updated_at: state.subjects.updatedAt(row),
    evidence_at: state.subjects.evidenceAt(row),
    prev: entries.head(entry),
  };
}

/** The newest record of a pair, 0 where the state has none. */
export function headOfPair(state: GroupState, subject: Uint8Array, peer: number): number {
  const row = state.subjects.find(subject);
  const entry = row < 0 ? -1 : state.subjects.findEntry(row, peer);
  return entry < 0 ? 0 : state.subjects.entries.head(entry);
}

function eventsOf(state: GroupState, row: number): number {
  const first = state.subjects.firstEntry(row);
  let events = 0;
  for (let i = 0; i < state.subjects.peerCount(row); i++) events += state.subjects.entries.count(first + i);
  return events;
}
