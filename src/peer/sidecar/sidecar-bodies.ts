/** Checks the request bodies of the sidecar: reports and entries of the allow list. */
import type { AllowListEntry, EventType, TrustEvent } from '../../client/entry.js';
import { bounds, isRecord, jsonIn } from '../../client/for-peer.js';
import { timeOf } from '../formats/reading/time-cells.js';
import { LocalError, memberFault } from './local-error.js';

export interface ReportBody extends Pick<TrustEvent, 'eventType' | 'gameId' | 'severity'> {
  /** One id, or several accounts of one person. */
  readonly playerIds: readonly string[];
  /** The game's own name for the report; the same name identifies the same report. */
  readonly eventId: string | undefined;
  /** Time of the event in ms since 1970; undefined means now. */
  readonly at: number | undefined;
}

/** The type requires every event type of the contract. */
const eventTypes: Readonly<Record<EventType, true>> = {
  report_cheating: true,
  report_toxicity: true,
  report_spam: true,
  friendly_fire: true,
  ban_applied: true,
  session_anomaly: true,
  matchmaking_fraud: true,
  commendation: true,
  session_clean: true,
  ban_lifted: true,
};

const reportMembers = ['player_id', 'player_ids', 'event_type', 'game_id', 'severity', 'event_id', 'timestamp'];
const allowMembers = ['player_id', 'until', 'note'];
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

type Given = Readonly<Record<string, unknown>>;

export function reportOf(body: unknown, gameIds: readonly string[]): ReportBody {
  const given = objectOf(body, reportMembers);
  const { player_ids: ids, event_type: eventType, severity, event_id: eventId, timestamp } = given;
  const playerIds = ids === undefined ? [idOf(given)] : ids;
  const isList = Array.isArray(playerIds) && playerIds.length > 0 && playerIds.length <= bounds.personIds;
  const areIds = isList && playerIds.every((id) => isText(id, bounds.hashedIdLength));
  const isOne = ids === undefined || given.player_id === undefined;
  const accounts = `1 to ${bounds.personIds} accounts of one person, without player_id`;
  check(given, 'player_ids', areIds && isOne, 'type', accounts);
  const isType = typeof eventType === 'string' && Object.hasOwn(eventTypes, eventType);
  check(given, 'event_type', isType, 'enum', `one of ${Object.keys(eventTypes).join(', ')}`);
  const isShare = typeof severity === 'number' && severity >= 0 && severity <= 1;
  check(given, 'severity', isShare, 'range', 'a number from 0 to 1');
  const isName = eventId === undefined || isText(eventId, bounds.eventIdLength);
  check(given, 'event_id', isName, 'length', `a string of 1 to ${bounds.eventIdLength} characters`);
  const gameId = given.game_id === undefined && gameIds.length === 1 ? gameIds[0] : given.game_id;
  const isGame = typeof gameId === 'string' && gameIds.includes(gameId);
  check(given, 'game_id', isGame, 'enum', `one of this peer's games: ${gameIds.join(', ')}`);
  const at = timestamp === undefined ? undefined : timeIn(given, 'timestamp');
  return {
    playerIds: playerIds as readonly string[],
    eventType: eventType as EventType,
    gameId: gameId as string,
    severity: severity as number,
    eventId: eventId as string | undefined,
    at,
  };
}

export function allowOf(body: unknown): AllowListEntry {
  const given = objectOf(body, allowMembers);
  const playerId = idOf(given);
  const until = timeIn(given, 'until');
  const { note = '' } = given;
  const isNote = typeof note === 'string' && note.length <= bounds.allowNoteLength;
  check(given, 'note', isNote, 'length', `a string of at most ${bounds.allowNoteLength} characters`);
  return { playerId, until, note: note as string };
}

/** Refuses a member that is not right: `what` says what it must be, `violation` the keyword that it violates. */
function check(given: Given, member: string, isRight: boolean, violation: string, what: string): void {
  if (isRight) return;
  throw memberFault(`/${member}`, given[member] === undefined ? 'required' : violation, `${member} must be ${what}`);
}

function isText(value: unknown, lengthMax: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= lengthMax;
}

function objectOf(body: unknown, members: readonly string[]): Given {
  if (!isRecord(body)) throw memberFault('', 'type', 'the body must be a JSON object');
  const unknown = Object.keys(body).find((name) => !members.includes(name));
  if (unknown === undefined) return body;
  const field = `/${unknown.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  throw memberFault(field, 'additionalProperties', `the body may have only these members: ${members.join(', ')}`);
}

function idOf(given: Given): string {
  const { player_id: id } = given;
  const isId = isText(id, bounds.hashedIdLength);
  check(given, 'player_id', isId, 'type', `a string of 1 to ${bounds.hashedIdLength} characters`);
  return id as string;
}

function timeIn(given: Given, member: string): number {
  const text = given[member];
  const at = typeof text === 'string' && rfc3339.test(text) ? timeOf(text, 'text', 'UTC') : undefined;
  check(given, member, at !== undefined, 'format', 'a time in RFC 3339, such as 2026-11-25T12:00:00Z');
  return at as number;
}

export function bodyIn(text: string): unknown {
  // A byte order mark is no part of the text (RFC 8259, section 8.1).
  const value = jsonIn(text.replace(/^\ufeff/, ''));
  if (value !== undefined) return value;
  throw new LocalError(400, 'malformed_json', 'the body must be JSON');
}
