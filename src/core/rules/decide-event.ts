/**
 * Decides trust events. Every factor that needs a power is computed here and carried by the record, so that a replay
 * computes no powers.
 */
import { errors, type Granted, granted, type Refusal, refused } from '../../errors.js';
import { limits } from '../../limits.js';
import type { EventSubmission } from '../commands.js';
import { evidenceAt, isTooOld, measureOfClaim, scaleAt } from '../evidence/decay.js';
import { eventTypeNamed, isMeasure, revokesLowering } from '../evidence/event-types.js';
import { FOLLOWS, FOLLOWS_CLAIM } from '../evidence/evidence.js';
import { trustConstants } from '../evidence/trust-constants.js';
import { refusalOfRawIds } from '../hashing/pseudonym.js';
import type { Peer } from '../peers/peers.js';
import type { DecidedEvent } from '../records/records.js';
import type { FirstPeers } from '../registers/first-peers.js';
import { type GroupState, MEASURES_FROM } from '../state.js';
import type { EventKeys } from '../tables/event-columns.js';
import { numberFor } from './decide-origin.js';

/** Number of a peer's games that a refusal names. */
const gamesNamed = 10;

function notItsGame({ gameIds }: Peer): Refusal {
  const games = [...gameIds.slice(0, gamesNamed), ...(gameIds.length > gamesNamed ? ['…'] : [])];
  return refused('game_id_not_registered', {
    text: `${errors.game_id_not_registered.text}; its games are ${games.join(', ')}`,
  });
}

/** An accepted event. `before`: see `othersBefore`; null if the event repeats another. */
export interface EventGranted extends Granted<DecidedEvent> {
  readonly before: readonly number[] | null;
}

/**
 * Decides one trust event, with the checks in the order of the contract. A null `caller` means that authentication is
 * off and `peerId` names the peer. `keys` are the event's lookup keys; `repeats` is true if an earlier event says the
 * same (`decide-repeat.ts`). Codes: unsupported_schema_version, peer_id_mismatch, unknown_peer, peer_not_active,
 * game_id_not_registered, subject_hash_required or player_id_not_canonical, timestamp_in_future, duplicate_event,
 * unknown_origin, overloaded. If the peer has not carried the event's origin before, the event has the next number as
 * its peer; `decideCarrier` makes the record that assigns that number.
 */
export function decideByKeys(
  state: GroupState,
  caller: number | null,
  submission: EventSubmission,
  now: number,
  keys: EventKeys,
  repeats: boolean,
): EventGranted | Refusal {
  const { eventId, gameId, severity, subject, timestamp } = submission;
  if (Number.parseInt(submission.schemaVersion, 10) > limits.schemaMajorMax)
    return refused('unsupported_schema_version');
  const acting = actingPeer(state, caller, submission.peerId);
  if (!acting.ok) return acting;
  const peer = acting.value;
  const game = peer.gameIds.indexOf(gameId);
  if (game < 0) return notItsGame(peer);
  if (subject === null) return refused(refusalOfRawIds(state.formed.identity_mode));
  if (timestamp - now > limits.futureMs) return refused('timestamp_in_future');
  const { columns, i } = keys;
  const known = state.eventIds.seqOfEvent(columns, i);
  if (known > 0) return duplicate(state, peer, eventId, keys, known);
  const number = numberFor(state, peer, submission.origin);
  if (!number.ok) return number;
  if (state.eventIds.full) return refused('overloaded');
  const type = eventTypeNamed(submission.eventType);
  const row = state.subjects.findOfEvent(columns, i);
  if (row < 0 && state.subjects.full) return refused('overloaded');
  const entry = row < 0 ? -1 : state.subjects.findEntry(row, number.value);
  const isOfMeasures = isMeasure(type.id) && state.scoring.version >= MEASURES_FROM;
  const at = evidenceAt(timestamp, now);
  const scale = isOfMeasures ? state.measureScale : state;
  const strength = isTooOld(at, now, scale.halfLifeDays) ? 0 : type.baseWeight * severity;
  const mass = type.sign * strength * scaleAt(at, scale.epoch, scale.halfLifeDays);
  // Copied by spread, each event had a hidden class of its own, which only a full collection frees.
  const decided: { -readonly [K in keyof DecidedEvent]: DecidedEvent[K] } = {
    type: 'event_accepted',
    peer: number.value,
    event_id: eventId,
    event_type: type.id,
    game,
    schema_version: submission.schemaVersion,
    severity,
    timestamp,
    mass,
    prev: entry < 0 ? 0 : state.subjects.entries.head(entry),
  };
  const { reference } = submission;
  if (reference !== undefined) decided.reference = reference;
  if (repeats) return { ok: true, value: { repeats, ...decided }, before: null };
  const sender = { peer: peer.index, origin: submission.origin };
  const before = othersBefore(state, row, entry, decided, at, sender);
  if (follows(state, entry, decided, peer.index, before)) decided.follows = true;
  return { ok: true, value: decided, before };
}

export function counts(event: DecidedEvent): boolean {
  return event.mass !== 0 || revokesLowering(event);
}

export function actingPeer(state: GroupState, caller: number | null, peerId: string): Granted<Peer> | Refusal {
  const acting = caller === null ? state.peers.byId(peerId) : state.peers.at(caller);
  if (acting === undefined) return refused('unknown_peer');
  if (acting.peerId !== peerId) return refused('peer_id_mismatch');
  if (acting.status !== 'active') return refused('peer_not_active');
  return granted(acting);
}

function duplicate(state: GroupState, peer: Peer, eventId: string, { columns, i }: EventKeys, seq: number): Refusal {
  if (state.origins.peerOf(state.eventIds.peerOfEvent(columns, i)) !== peer.index) {
    return refused('duplicate_event', { details: { event_id: eventId, owner: 'other' } });
  }
  const details = {
    event_id: eventId,
    originally_received_at: new Date(state.times.receivedAt(seq)).toISOString(),
    ...(state.erasedEvents.has(seq) ? ({ reason: 'subject_erased' } as const) : {}),
  };
  return refused('duplicate_event', { details });
}

/**
 * Share of the new mass from which earlier evidence counts, of the pair and of others. Less than that holds no place: a
 * peer could otherwise be first about every player by reports that weigh nothing.
 */
const EARLIER_PART = 0.01;

/**
 * Such a peer is no witness of its own (docs/SCORING.md, "The log-odds"). True if an event, with the
 * pair's earlier evidence, follows that of other peers, the result of `othersBefore`: a measure follows measures, a
 * claim either. A peer that is first about nearly everybody is not followed.
 */
function follows(
  state: GroupState,
  entry: number,
  event: Decided,
  sender: number,
  others: readonly number[] | null,
): boolean {
  const bit = isMeasure(event.event_type) ? FOLLOWS : FOLLOWS_CLAIM;
  if (others === null) return lowers(state, event) && (state.subjects.entries.follows(entry) & bit) !== 0;
  const first = firstPeersOf(state, event);
  return first.saysNothing(sender) || others.some((other) => !first.has(other));
}

/** Notes an event that begins to lower its player, so that peers are found that are first about nearly everybody. */
export function noteBeginning(state: GroupState, event: DecidedEvent, others: readonly number[]): void {
  firstPeersOf(state, event).note(state.origins.peerOf(event.peer), others);
}

function lowers({ scoring }: GroupState, { mass }: Decided): boolean {
  return mass < 0 && scoring.version >= MEASURES_FROM;
}

function firstPeersOf({ firstPeers }: GroupState, { event_type }: Decided): FirstPeers {
  return isMeasure(event_type) ? firstPeers.measures : firstPeers.claims;
}

/**
 * Returns the peers whose evidence stood before; null if the event does not lower, or the pair's own evidence decides.
 * `row`, `entry`: -1 if absent. `at`: of `evidenceAt`. `sender`: peer and origin, whose number may not be assigned yet.
 */
function othersBefore(
  state: GroupState,
  row: number,
  entry: number,
  event: Decided,
  at: number,
  sender: Sender,
): number[] | null {
  if (!lowers(state, event)) return null;
  if (row < 0) return [];
  const { entries } = state.subjects;
  const ofMeasures = isMeasure(event.event_type);
  const least = EARLIER_PART * -event.mass;
  const leastMeasure = ofMeasures ? least : measureOfClaim(least, at, state, state.measureScale);
  const claims = (of: number) => holds(entries.lowering(of), least);
  const measures = (of: number) => holds(entries.measure(of), leastMeasure);
  if (entry >= 0 && (ofMeasures ? measures(entry) : claims(entry))) return null;
  const others = new Set<number>();
  const first = state.subjects.firstEntry(row);
  for (let other = first; other < first + state.subjects.peerCount(row); other++) {
    const stands = measures(other) || (!ofMeasures && claims(other));
    const number = entries.peer(other);
    if (stands && !entries.isVoid(other) && isAnotherVoice(state, sender, number))
      others.add(state.origins.peerOf(number));
  }
  return [...others];
}

/** A hundredth of the smallest numbers is 0, which no evidence holds. */
function holds(sum: number, least: number): boolean {
  return sum > 0 && sum >= least;
}

type Decided = Pick<DecidedEvent, 'event_type' | 'mass'>;

interface Sender {
  readonly peer: number;
  readonly origin: string | undefined;
}

/**
 * True if a number belongs to another peer and origin, and its word counts: nobody follows a closed gate, or a peer
 * that no computation has seen, except before the group's first.
 */
function isAnotherVoice({ origins, peerWeights, weights }: GroupState, sender: Sender, other: number): boolean {
  if (origins.peerOf(other) === sender.peer || peerWeights.excluded[other] === 1) return false;
  if (sender.origin !== undefined && origins.nameOf(other) === sender.origin) return false;
  return weights.computedAt === null || peerWeights.tau[other]! > trustConstants.openGate;
}
