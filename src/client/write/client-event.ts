/** Declares the events that a game server submits and their outcomes, in the names of the client and the contract. */
import type { EventBody } from '../../contract/request-bodies.js';
import type { BatchResultBody } from '../../contract/response-bodies.js';
import { bounds } from '../bounds.js';
import { isRecord } from '../json-text.js';
import { type Answer, notTheContract, unexpected } from '../transport/caller.js';
import { splitUp } from '../transport/split-up.js';
import type { Runtime } from '../transport/time.js';
import { invalidArgument, TrustError, type TrustErrorCode } from '../trust-error.js';

/** The kinds of events. @public */
export type EventType = EventBody['event_type'];

/** An event about a player, as a game server reports it. @public */
export interface TrustEvent {
  /** The type of the event. */
  readonly eventType: EventType;
  /**
   * The player's id as the platform states it, or a subject hash: 1 to 128 characters; up to 8,192 UTF-16 units if the
   * client has the salt.
   */
  readonly playerId: string;
  /** One of the games for which the peer is registered. */
  readonly gameId: string;
  /** 0 to 1. */
  readonly severity: number;
  /**
   * The idempotency key, unique in the whole group: 1 to 128 of `A-Z a-z 0-9 . _ : -`. Default: a new UUIDv4. If the
   * same report may be made twice, pass an id that begins with a prefix of the peer and follows from the incident, such
   * as `arena-eu-1:match-4711:player-3`. It should not contain an account id.
   */
  readonly eventId?: string | undefined;
  /** Time of the event, as a `Date` or ms since 1970. Default: now. */
  readonly at?: Date | number | undefined;
  /**
   * The source whose statement the event passes on, such as a public ban list, by the name that the operator declared:
   * everything that peers pass on from one origin counts as one witness.
   */
  readonly origin?: string | undefined;
  /** The peer's own note, such as a ticket number: 1 to 128 characters, shown to the peer and the operator only. */
  readonly reference?: string | undefined;
}

/**
 * The outcome of one event.
 *
 * - `accepted`: stored now.
 * - `duplicate`: an event of this peer with this id was stored before; nothing remains to be done.
 * - `rejected`: the service will never accept the event as it is; `code` says why. `duplicate_event` means that another
 *   peer's event has this id. @public
 */
export interface EventOutcome {
  /** The event's id, as given or generated. */
  readonly eventId: string;
  /** The outcome. */
  readonly status: 'accepted' | 'duplicate' | 'rejected';
  /** The code of the rejection; null if the event was not rejected. */
  readonly code: TrustErrorCode | null;
  /** The reason of the rejection, for people; null if the event was not rejected. */
  readonly reason: string | null;
  /** Present on a `duplicate` whose event was removed by an erasure of its player: the event is no longer stored. */
  readonly subjectErased?: true;
  /**
   * Present on an `accepted` event that is stored but is no evidence: it has severity 0, or its time is more than 20
   * half-lives ago, most often because `at` was given in seconds instead of ms.
   */
  readonly counts?: false;
}

/** The outcome of many events. @public */
export interface SubmitManyOutcome {
  /** Number of events stored now. */
  readonly accepted: number;
  /** Number of events that were stored before. */
  readonly duplicates: number;
  /** Number of events that the service will not accept. */
  readonly rejected: number;
  /** One outcome per event, in the order of the events. */
  readonly results: readonly EventOutcome[];
}

const eventIdPattern = /^[A-Za-z0-9._:-]+$/;
const schemaVersion = '1.0.0';
/** The first version of events that may have an origin or a reference. */
const labelledVersion = '1.1.0';

/** Throws `invalid_argument` for errors that are visible here; the node checks the rest. */
export function wireEvent(
  event: TrustEvent,
  peerId: string,
  sentId: (playerId: string) => string,
  runtime: Runtime,
): EventBody {
  if (!isRecord(event))
    throw invalidArgument('an event must be an object with eventType, playerId, gameId and severity');
  const { eventId = runtime.uuid(), at = runtime.now(), origin, reference } = event;
  checkEventId(eventId);
  const when = new Date(at);
  if (Number.isNaN(when.getTime())) throw invalidArgument('at must be a date');
  return {
    schema_version: origin === undefined && reference === undefined ? schemaVersion : labelledVersion,
    event_id: eventId,
    event_type: event.eventType,
    peer_id: peerId,
    player_id: sentId(event.playerId),
    game_id: event.gameId,
    severity: event.severity,
    timestamp: when.toISOString(),
    ...(origin === undefined ? {} : { origin }),
    ...(reference === undefined ? {} : { reference }),
  };
}

/** Throws `invalid_argument` if the text is no valid event id. */
export function checkEventId(eventId: string): void {
  if (typeof eventId !== 'string' || eventId.length > bounds.eventIdLength || !eventIdPattern.test(eventId)) {
    throw invalidArgument(`eventId must have 1 to ${bounds.eventIdLength} characters of A-Z a-z 0-9 . _ : -`);
  }
}

export function countedOutcome(results: readonly EventOutcome[]): SubmitManyOutcome {
  const count = (status: EventOutcome['status']) => results.filter((one) => one.status === status).length;
  return { accepted: count('accepted'), duplicates: count('duplicate'), rejected: count('rejected'), results };
}

export function batchesOf(events: readonly EventBody[]): EventBody[][] {
  return splitUp(events, bounds.eventsPerCall, bounds.batchBytes, (one) => Buffer.byteLength(JSON.stringify(one)));
}

/** An event that the node could not accept now, or not under this key; it must be sent again. @public */
export interface DeferredEvent {
  /** The error that prevented it. */
  readonly later: TrustError;
}

/** The node's result for one event of a batch. @public */
export type DeliveryResult = EventOutcome | DeferredEvent;

type ResultRow = BatchResultBody['results'][number];

/** The results, in order. Throws `unexpected_answer` if they do not match the batch. */
export function resultsOf(body: unknown, events: readonly EventBody[], peerId: string | undefined): DeliveryResult[] {
  const rows = isRecord(body) ? body.results : undefined;
  if (!Array.isArray(rows) || rows.length !== events.length) {
    throw unexpected({ status: 200 }, 'the answer to a batch does not follow the contract');
  }
  return rows.map((row: unknown, index) => resultOf(isRecord(row) ? row : {}, events[index]!, peerId));
}

/** Throws if the answer to a write of one event is about another event. */
export function expectEvent(answer: Answer, eventId: string): void {
  if (!isRecord(answer.body) || answer.body.event_id !== eventId) throw notTheContract(answer);
}

/** True if the details of a 409 name another peer's event with this id; otherwise the event itself is stored. */
export function isOfAnotherPeer(details: unknown): boolean {
  return isRecord(details) && details.owner === 'other';
}

/** Returns the outcome of an event that is stored now, from the answer to it. */
export function acceptedOutcome(eventId: string, answer: unknown): EventOutcome {
  const isNoEvidence = isRecord(answer) && answer.counts === false;
  return { eventId, status: 'accepted', code: null, reason: null, ...(isNoEvidence ? { counts: false } : {}) };
}

/** Returns the outcome of an event that was stored before, from the details of its 409. */
export function duplicateOutcome(eventId: string, details: unknown): EventOutcome {
  const isErased = isRecord(details) && details.reason === 'subject_erased';
  return { eventId, status: 'duplicate', code: null, reason: null, ...(isErased ? { subjectErased: true } : {}) };
}

/** Refusals that concern the sender of an event. For an event of this peer, they concern its key. */
const codesOfSender: readonly TrustErrorCode[] = ['peer_id_mismatch', 'unknown_peer'];

function resultOf(
  row: { readonly [Member in keyof ResultRow]?: unknown },
  { event_id: eventId, peer_id: sender }: EventBody,
  peerId: string | undefined,
): DeliveryResult {
  const status = Number(row.status);
  if (status === 201) return acceptedOutcome(eventId, row);
  if (status === 409 && !isOfAnotherPeer(row.details)) return duplicateOutcome(eventId, row.details);
  const code = (typeof row.code === 'string' ? row.code : 'unexpected_answer') as TrustErrorCode;
  const reason = typeof row.error === 'string' ? row.error : code;
  const isOfKey = codesOfSender.includes(code) && sender === peerId;
  if (isOfKey || status === 429 || status >= 500 || !(status >= 400)) {
    // A malformed answer or a failing node says nothing about stored events.
    return { later: new TrustError(code, reason, { status, outcomeUnknown: !(status >= 400) || status === 500 }) };
  }
  return { eventId, status: 'rejected', code, reason };
}
