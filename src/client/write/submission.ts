/** What a game server submits, and what comes back: the client's names on one side, the contract's on the other. */
import type { EventBody } from '../../contract/request-bodies.js';
import type { BatchResultBody } from '../../contract/response-bodies.js';
import { bounds } from '../bounds.js';
import { type Answer, isRecord, notTheContract, unexpected } from '../transport/caller.js';
import type { Runtime } from '../transport/runtime.js';
import { TrustError, type TrustErrorCode } from '../trust-error.js';

/**
 * The kinds of events.
 * @public
 */
export type EventType = EventBody['event_type'];

/**
 * Something that happened to a player, as a game server reports it.
 * @public
 */
export interface TrustEvent {
  /** What happened. */
  readonly eventType: EventType;
  /**
   * The player's id as the platform gives it, or a subject hash: 1 to 128 characters; where the client has the salt up
   * to 8,192 UTF-16 units.
   */
  readonly playerId: string;
  /** One of the games that the peer is registered for. */
  readonly gameId: string;
  /** 0 to 1. */
  readonly severity: number;
  /**
   * The idempotency key, unique in the whole group: 1 to 128 of `A-Z a-z 0-9 . _ : -`. Made anew (UUIDv4) where it is
   * left out; give one that begins with something of the peer's own and follows from what happened, such as
   * `arena-eu-1:match-4711:player-3`, where the same report may be made twice. It should not hold an account id.
   */
  readonly eventId?: string | undefined;
  /** When it happened, as a `Date` or ms since 1970; now where it is left out. */
  readonly at?: Date | number | undefined;
  /**
   * The source whose statement the event passes on, such as a public ban list, by the name that the operator declared:
   * everything that peers pass on of one origin counts as one witness.
   */
  readonly origin?: string | undefined;
  /** The peer's own note, such as a ticket number: 1 to 128 characters, for the peer and the operator. */
  readonly reference?: string | undefined;
}

/**
 * What came of one event.
 *
 * - `accepted`: stored now.
 * - `duplicate`: an event of this peer with this id was stored before; nothing is left to do.
 * - `rejected`: the service will never take it as it is; `code` says why. `duplicate_event` is another peer's event
 *   with this id.
 *
 * @public
 */
export interface EventOutcome {
  /** The event's id, as given or as made. */
  readonly eventId: string;
  /** What came of it. */
  readonly status: 'accepted' | 'duplicate' | 'rejected';
  /** Why it was rejected; null where it was not. */
  readonly code: TrustErrorCode | null;
  /** The same for people. */
  readonly reason: string | null;
  /** True on a `duplicate` whose event went with an erasure of its player: it is not stored any more. */
  readonly subjectErased?: true;
}

/**
 * What came of many events.
 * @public
 */
export interface SubmitManyOutcome {
  /** Events stored now. */
  readonly accepted: number;
  /** Events that were stored before. */
  readonly duplicates: number;
  /** Events that the service will not take. */
  readonly rejected: number;
  /** One per event, in the order given. */
  readonly results: readonly EventOutcome[];
}

const eventIdPattern = /^[A-Za-z0-9._:-]+$/;
const schemaVersion = '1.0.0';
/** The first version of events that may have an origin or a reference. */
const labelledVersion = '1.1.0';

/**
 * The event as it travels. Throws `invalid_argument` for what can be seen to be wrong here; the node judges the rest.
 */
export function wireEvent(
  event: TrustEvent,
  peerId: string,
  sentId: (playerId: string) => string,
  runtime: Runtime,
): EventBody {
  const {
    eventType,
    playerId,
    gameId,
    severity,
    eventId = runtime.uuid(),
    at = runtime.now(),
    origin,
    reference,
  } = event;
  checkEventId(eventId);
  const when = new Date(at);
  if (Number.isNaN(when.getTime())) throw invalid('at must be a date');
  return {
    schema_version: origin === undefined && reference === undefined ? schemaVersion : labelledVersion,
    event_id: eventId,
    event_type: eventType,
    peer_id: peerId,
    player_id: sentId(playerId),
    game_id: gameId,
    severity,
    timestamp: when.toISOString(),
    ...(origin === undefined ? {} : { origin }),
    ...(reference === undefined ? {} : { reference }),
  };
}

/** Throws `invalid_argument` for what cannot be the id of an event. */
export function checkEventId(eventId: string): void {
  if (typeof eventId !== 'string' || eventId.length > bounds.eventIdLength || !eventIdPattern.test(eventId)) {
    throw invalid(`eventId must be 1 to ${bounds.eventIdLength} of A-Z a-z 0-9 . _ : -`);
  }
}

function invalid(text: string): TrustError {
  return new TrustError('invalid_argument', text);
}

/** The outcomes with their counts. */
export function countedOutcome(results: readonly EventOutcome[]): SubmitManyOutcome {
  const count = (status: EventOutcome['status']) => results.filter((one) => one.status === status).length;
  return { accepted: count('accepted'), duplicates: count('duplicate'), rejected: count('rejected'), results };
}

/** Pieces of at most one call each, by count and bytes, in order. */
export function batchesOf(events: readonly EventBody[]): EventBody[][] {
  const batches: EventBody[][] = [];
  let room = 0;
  for (const event of events) {
    const bytes = Buffer.byteLength(JSON.stringify(event)) + 1;
    const last = batches.at(-1);
    if (last === undefined || last.length === bounds.eventsPerCall || bytes > room) {
      batches.push([event]);
      room = bounds.batchBytes - bytes;
    } else {
      last.push(event);
      room -= bytes;
    }
  }
  return batches;
}

/**
 * An event that the node could not take now, or not under this key: it is to be sent again.
 * @public
 */
export interface DeferredEvent {
  /** Why it could not. */
  readonly later: TrustError;
}

/**
 * What the node says of one event of a batch.
 * @public
 */
export type DeliveryResult = EventOutcome | DeferredEvent;

type ResultRow = BatchResultBody['results'][number];

/** The results of a batch that `peerId` sent, in the order sent. Throws `unexpected_answer` where they do not fit. */
export function resultsOf(body: unknown, events: readonly EventBody[], peerId: string | undefined): DeliveryResult[] {
  const rows = isRecord(body) ? body.results : undefined;
  if (!Array.isArray(rows) || rows.length !== events.length) {
    throw unexpected({ status: 200 }, 'the answer to a batch does not hold to the contract');
  }
  return rows.map((row: unknown, index) => resultOf(isRecord(row) ? row : {}, events[index]!, peerId));
}

/** Throws where the answer to a write of one event is not about that event. */
export function expectEvent(answer: Answer, eventId: string): void {
  if (!isRecord(answer.body) || answer.body.event_id !== eventId) throw notTheContract(answer);
}

/** Whether the details of a 409 say that the id is that of another peer's event, so that this one is not stored. */
export function isAlreadyStored(details: unknown): boolean {
  return isRecord(details) && details.owner === 'other';
}

/** The outcome of an event that was stored before, from the details of its 409. */
export function duplicateOutcome(eventId: string, details: unknown): EventOutcome {
  const isErased = isRecord(details) && details.reason === 'subject_erased';
  return { eventId, status: 'duplicate', code: null, reason: null, ...(isErased ? { subjectErased: true } : {}) };
}

/** Refusals for who sends an event. Where it is the sender's own, they speak of its key. */
const codesOfSender: readonly TrustErrorCode[] = ['peer_id_mismatch', 'unknown_peer'];

function resultOf(
  row: { readonly [Member in keyof ResultRow]?: unknown },
  { event_id: eventId, peer_id: sender }: EventBody,
  peerId: string | undefined,
): DeliveryResult {
  const status = Number(row.status);
  if (status === 201) return { eventId, status: 'accepted', code: null, reason: null };
  if (status === 409 && !isAlreadyStored(row.details)) return duplicateOutcome(eventId, row.details);
  const code = (typeof row.code === 'string' ? row.code : 'unexpected_answer') as TrustErrorCode;
  const reason = typeof row.error === 'string' ? row.error : code;
  const isOfKey = codesOfSender.includes(code) && sender === peerId;
  if (isOfKey || status === 429 || status >= 500 || !(status >= 400)) {
    // An answer that is none, and a node at fault, say nothing of what was stored.
    return { later: new TrustError(code, reason, { status, outcomeUnknown: !(status >= 400) || status === 500 }) };
  }
  return { eventId, status: 'rejected', code, reason };
}
