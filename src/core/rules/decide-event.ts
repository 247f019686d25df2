/**
 * Decides trust events. Every factor that needs a power is computed here and carried by the record, so that a replay
 * computes no powers.
 */
import { errors, type Granted, granted, type Refusal, refused } from '../../errors.js';
import { limits } from '../../limits.js';
import type { EventSubmission } from '../commands.js';
import { evidenceAt, isTooOld, scaleAt } from '../evidence/decay.js';
import { eventTypeNamed, isMeasure, revokesLowering } from '../evidence/event-types.js';
import { refusalOfRawIds } from '../hashing/pseudonym.js';
import type { Peer } from '../peers/peers.js';
import type { DecidedEvent } from '../records/records.js';
import { type GroupState, MEASURES_FROM } from '../state.js';
import type { EventKeys } from '../tables/event-columns.js';
import { follows, othersBefore } from './decide-following.js';
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
 * game_id_not_registered, subject_hash_required or player_id_not_canonical, timestamp_in_future, unknown_origin,
 * duplicate_event, overloaded. If the peer has not carried the event's origin before, the event has the next number as
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
  const number = numberFor(state, peer, submission.origin);
  if (!number.ok && number.code === 'unknown_origin') return number;
  const { columns, i } = keys;
  const known = state.eventIds.seqOfEvent(columns, i);
  if (known > 0) return duplicate(state, peer, eventId, keys, known);
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
  const decided: DecidedEvent = {
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
  const noted = reference === undefined ? decided : { ...decided, reference };
  if (repeats) return { ...granted({ ...noted, repeats }), before: null };
  const sender = { peer: peer.index, origin: submission.origin };
  const before = othersBefore(state, row, entry, { ...noted, at }, sender);
  const isFollowing = follows(state, entry, noted, peer.index, before);
  return { ...granted(isFollowing ? { ...noted, follows: true as const } : noted), before };
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
