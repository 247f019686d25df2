/**
 * The rules: from a state and a command to records and an answer. Nothing here changes the state; time and chance arrive as
 * arguments, and what needs a power is computed here and carried by the record.
 */
import { type Granted, granted, type Outcome, type Refusal, refused } from '../errors.js';
import { limits } from '../limits.js';
import { type AuditFact, auditPart } from './audit.js';
import type {
  ChangePeerStatus,
  ChangePreTrust,
  EraseSubject,
  EventSubmission,
  GroupBounds,
  RegisterPeer,
  RotateKey,
  WithdrawEvent,
} from './commands.js';
import { movedEpoch, scaleAt, worthAt } from './decay.js';
import type { IdTag } from './event-ids.js';
import { eventTypes } from './event-types.js';
import type { Peer } from './peers.js';
import { subjectHex } from './pseudonym.js';
import type { AuditPart, EpochMoved, EventAccepted, LogRecord } from './records.js';
import type { GroupState } from './state.js';

/** What a command leads to: the records to write, then the answer. A refusal writes nothing. */
export interface Decision<T> {
  readonly records: readonly LogRecord[];
  readonly outcome: Outcome<T>;
}

function refuse(refusal: Refusal): Decision<never> {
  return { records: [], outcome: refusal };
}

/** The audit part of the record that comes next. */
function audited(state: GroupState, now: number, fact: AuditFact): AuditPart {
  return auditPart(state.auditHead, state.lastSeq + 1, now, fact);
}

/** The record that moves the decay epoch before evidence of `now` is scaled, where it is due. */
export function decideEpoch(state: GroupState, now: number): EpochMoved | null {
  const moved = movedEpoch(now, state.epoch, state.halfLifeDays);
  return moved === null ? null : { type: 'epoch_moved', ...moved };
}

/** An event that may be applied, with its tag. */
export interface DecidedEvent {
  readonly event: EventAccepted;
  readonly tag: IdTag;
}

/**
 * One trust event, checked in the order of the contract. `caller` null: authentication is off, and `peerId` names the peer.
 * Codes: unsupported_schema_version, peer_id_mismatch, unknown_peer, peer_not_active, game_id_not_registered,
 * subject_hash_required, timestamp_in_future, duplicate_event, overloaded.
 */
export function decideEvent(
  state: GroupState,
  caller: number | null,
  submission: EventSubmission,
  now: number,
): Granted<DecidedEvent> | Refusal {
  const { eventId, gameId, severity, subject, timestamp } = submission;
  if (majorOf(submission.schemaVersion) > limits.schemaMajorMax) return refused('unsupported_schema_version');
  const acting = actingPeer(state, caller, submission.peerId);
  if (!acting.ok) return acting;
  const peer = acting.value;
  const game = peer.gameIds.indexOf(gameId);
  if (game < 0) return refused('game_id_not_registered');
  if (subject === null) return refused('subject_hash_required');
  if (timestamp - now > limits.futureMs) return refused('timestamp_in_future');
  const tag = state.tagOf(eventId);
  const known = state.eventIds.seqOf(tag);
  if (known > 0) return duplicate(state, peer, eventId, tag, known);
  if (state.eventIds.full) return refused('overloaded', { retryAfterS: limits.retryAfterS });
  const type = eventTypes[submission.eventType];
  const row = state.subjects.find(subject);
  const entry = row < 0 ? -1 : state.subjects.entryOf(row, peer.index);
  const event: EventAccepted = {
    type: 'event_accepted',
    peer: peer.index,
    subject,
    event_id: eventId,
    event_type: type.id,
    game,
    schema_version: submission.schemaVersion,
    severity,
    timestamp,
    mass: type.sign * type.baseWeight * severity * scaleAt(Math.min(timestamp, now), state.epoch, state.halfLifeDays),
    prev: entry < 0 ? 0 : state.subjects.entries.head(entry),
  };
  return granted({ event, tag });
}

function majorOf(version: string): number {
  return Number(version.slice(0, version.indexOf('.')));
}

function actingPeer(state: GroupState, caller: number | null, peerId: string): Granted<Peer> | Refusal {
  const named = state.peers.byId(peerId);
  if (caller !== null && named?.index !== caller) return refused('peer_id_mismatch');
  if (named === undefined) return refused('unknown_peer');
  if (named.status !== 'active') return refused('peer_not_active');
  return granted(named);
}

function duplicate(state: GroupState, peer: Peer, eventId: string, tag: IdTag, seq: number): Refusal {
  if (state.eventIds.peerOf(tag) !== peer.index) {
    return refused('duplicate_event', { details: { event_id: eventId, owner: 'other' } });
  }
  const receivedAt = new Date(state.times.receivedAt(seq)).toISOString();
  return refused('duplicate_event', { details: { event_id: eventId, originally_received_at: receivedAt } });
}

/** A new peer; its number is the answer. Codes: overloaded. */
export function decideRegistration(
  state: GroupState,
  bounds: GroupBounds,
  command: RegisterPeer,
  now: number,
): Decision<number> {
  if (state.peers.size >= bounds.peersMax) {
    return refuse(
      refused('overloaded', { text: 'this group holds as many peers as it may', retryAfterS: limits.retryAfterS }),
    );
  }
  const index = state.peers.size;
  const audit = audited(state, now, { action: 'peer_registered', actor: command.by, target: command.peerId });
  const record: LogRecord = {
    type: 'peer_registered',
    peer: index,
    peer_id: command.peerId,
    peer_name: command.peerName,
    game_ids: command.gameIds,
    contact_email: command.contactEmail ?? null,
    key_digest: command.keyDigest,
    audit,
  };
  return { records: [record], outcome: granted(index) };
}

/**
 * Suspend, reinstate or revoke; asking for the status that stands writes nothing. Codes: unknown_peer; peer_not_active where
 * the peer is revoked, which is final.
 */
export function decidePeerStatus(state: GroupState, command: ChangePeerStatus, now: number): Decision<number> {
  const peer = state.peers.byId(command.peerId);
  if (peer === undefined) return refuse(refused('unknown_peer', { text: 'no peer has this id' }));
  if (peer.status === command.status) return { records: [], outcome: granted(peer.index) };
  if (peer.status === 'revoked')
    return refuse(refused('peer_not_active', { text: 'the peer is revoked, which is final' }));
  const actions = { active: 'peer_reinstated', suspended: 'peer_suspended', revoked: 'peer_revoked' } as const;
  const audit = audited(state, now, { action: actions[command.status], actor: command.by, target: peer.peerId });
  const record: LogRecord = { type: 'peer_status_changed', peer: peer.index, status: command.status, audit };
  return { records: [record], outcome: granted(peer.index) };
}

/** A new key for a peer. Codes: unknown_peer, peer_not_active (revoked). */
export function decideKeyRotation(state: GroupState, command: RotateKey, now: number): Decision<number> {
  const peer = state.peers.byId(command.peerId);
  if (peer === undefined) return refuse(refused('unknown_peer', { text: 'no peer has this id' }));
  if (peer.status === 'revoked')
    return refuse(refused('peer_not_active', { text: 'the peer is revoked, which is final' }));
  const overlapMs = Math.min(command.overlapMs, limits.keyOverlapMsMax);
  const record: LogRecord = {
    type: 'peer_key_rotated',
    peer: peer.index,
    key_digest: command.keyDigest,
    old_key_until: overlapMs > 0 ? now + overlapMs : 0,
    audit: audited(state, now, { action: 'peer_key_rotated', actor: command.by, target: peer.peerId }),
  };
  return { records: [record], outcome: granted(peer.index) };
}

/** One peer more or less among the pre-trusted. Codes: unknown_peer, peer_not_active (revoked), overloaded (too many). */
export function decidePreTrust(state: GroupState, command: ChangePreTrust, now: number): Decision<null> {
  const peer = state.peers.byId(command.peerId);
  if (peer === undefined) return refuse(refused('unknown_peer', { text: 'no peer has this id' }));
  const listed = state.preTrusted.includes(peer.index);
  if (listed === (command.change === 'add')) return { records: [], outcome: granted(null) };
  if (command.change === 'add' && peer.status === 'revoked') {
    return refuse(refused('peer_not_active', { text: 'the peer is revoked, which is final' }));
  }
  if (command.change === 'add' && state.preTrusted.length >= limits.preTrustedMax) {
    return refuse(refused('overloaded', { text: 'too many pre-trusted peers' }));
  }
  const peers = listed ? state.preTrusted.filter((index) => index !== peer.index) : [...state.preTrusted, peer.index];
  const action = listed ? 'pre_trust_removed' : 'pre_trust_added';
  const audit = audited(state, now, { action, actor: command.by, target: peer.peerId });
  return { records: [{ type: 'pre_trust_set', peers, configured: null, audit }], outcome: granted(null) };
}

/**
 * The configured set of pre-trusted peers, applied where it differs from the one applied last. Codes: unknown_peer,
 * peer_not_active (revoked), with the id in the text.
 */
export function decideConfiguredPreTrust(state: GroupState, peerIds: readonly string[], now: number): Decision<null> {
  const configured = peerIds.join(',');
  const peers: number[] = [];
  for (const peerId of peerIds) {
    const peer = state.peers.byId(peerId);
    if (peer === undefined) return refuse(refused('unknown_peer', { text: `${peerId} is no peer of this group` }));
    if (peer.status === 'revoked') return refuse(refused('peer_not_active', { text: `${peerId} is revoked` }));
    peers.push(peer.index);
  }
  if (configured === state.preTrustConfigured) return { records: [], outcome: granted(null) };
  const audit = audited(state, now, { action: 'pre_trust_set', actor: 'configuration', target: configured });
  return { records: [{ type: 'pre_trust_set', peers, configured, audit }], outcome: granted(null) };
}

/** Another half-life: what every sum is worth now is carried over, and decays anew from here. */
export function decideHalfLife(state: GroupState, halfLifeDays: number, now: number): Decision<null> {
  if (halfLifeDays === state.halfLifeDays) return { records: [], outcome: granted(null) };
  const at = Math.max(now, state.lastAt);
  const record: LogRecord = {
    type: 'half_life_changed',
    half_life_days: halfLifeDays,
    epoch: at,
    factor: worthAt(at, state.epoch, state.halfLifeDays),
    audit: audited(state, now, { action: 'half_life_changed', actor: 'configuration', target: `${halfLifeDays} days` }),
  };
  return { records: [record], outcome: granted(null) };
}

/** The answer to a withdrawal whose event was read before earlier batches were replaced: read it again. */
export const readAgain = Symbol('read again');

/**
 * A peer takes back its own event: the pair's sums without it, as values. Codes: event_not_found (another peer's, withdrawn
 * before, or erased).
 */
export function decideWithdrawal(
  state: GroupState,
  command: WithdrawEvent,
  now: number,
): Decision<null> | typeof readAgain {
  if (command.asOf !== state.rewrites) return readAgain;
  const { event, eventSeq } = command;
  const missing = refuse(refused('event_not_found'));
  if (command.caller !== null && command.caller !== event.peer) return missing;
  const row = state.subjects.find(event.subject);
  const entry = row < 0 ? -1 : state.subjects.entryOf(row, event.peer);
  if (entry < 0 || isGoing(state, eventSeq, event)) return missing;
  const { entries } = state.subjects;
  const mass = event.mass * rescaledSince(state, eventSeq);
  const count = entries.count(entry) - 1;
  const record: LogRecord = {
    type: 'event_withdrawn',
    peer: event.peer,
    subject: subjectHex(event.subject),
    event_seq: eventSeq,
    lowering: count === 0 ? 0 : without(entries.lowering(entry), -mass),
    raising: count === 0 ? 0 : without(entries.raising(entry), mass),
    count,
    updated_at: Math.max(now, state.subjects.updatedAt(row)),
    prev: entries.head(entry),
  };
  return { records: [record], outcome: granted(null) };
}

/** Whether an event that the log still shows was withdrawn or erased already. */
function isGoing(state: GroupState, eventSeq: number, event: EventAccepted): boolean {
  const subject = subjectHex(event.subject);
  for (const redaction of state.redactions.values()) {
    if (redaction.kind === 'withdrawal' && redaction.heads[0] === eventSeq) return true;
    if (redaction.kind === 'erasure' && redaction.subject === subject && eventSeq < redaction.seq) return true;
  }
  return false;
}

/** What the changes of scale since a record made of its mass. */
function rescaledSince(state: GroupState, seq: number): number {
  let factor = 1;
  for (const rescale of state.rescales) if (rescale.seq > seq) factor *= rescale.factor;
  return factor;
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
): Decision<{ readonly events: number; readonly pending: boolean }> {
  const row = state.subjects.find(command.subject);
  if (row < 0) return refuse(refused('subject_not_found'));
  const byOperator = command.caller < -1;
  if (!byOperator) {
    const wait = quotaWaitMs(state, bounds, command.caller, now);
    if (wait > 0) return refuse(refused('erasure_quota_exceeded', { retryAfterS: Math.ceil(wait / 1000) }));
  }
  const subject = subjectHex(command.subject);
  const pending = bounds.erasureMode === 'operator' && !byOperator;
  const action = pending ? 'erasure_requested' : 'subject_erased';
  const audit = audited(state, now, { action, actor: command.by, target: command.commitment });
  if (pending) {
    const record: LogRecord = { type: 'erasure_requested', peer: command.caller, subject, audit };
    return { records: [record], outcome: granted({ events: 0, pending }) };
  }
  const events = eventsOf(state, row);
  const record: LogRecord = { type: 'subject_erased', peer: command.caller, subject, events, audit };
  return { records: [record], outcome: granted({ events, pending }) };
}

function eventsOf(state: GroupState, row: number): number {
  const first = state.subjects.firstEntry(row);
  let events = 0;
  for (let i = 0; i < state.subjects.peerCount(row); i++) events += state.subjects.entries.count(first + i);
  return events;
}

/** ms until the caller may erase again; 0: now. */
function quotaWaitMs(state: GroupState, bounds: GroupBounds, caller: number, now: number): number {
  const recent = (state.erasuresBy.get(caller) ?? []).filter((at) => at > now - limits.erasureWindowMs);
  if (recent.length < bounds.erasureQuotaPerDay) return 0;
  const frees = recent[recent.length - bounds.erasureQuotaPerDay] ?? now;
  return Math.max(1, frees + limits.erasureWindowMs - now);
}
