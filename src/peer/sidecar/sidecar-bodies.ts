/** Checks the request bodies of the sidecar: reports and entries of the allow list. */
import { bounds } from '../../client/bounds.js';
import type { EventType } from '../../client/write/client-event.js';
import { LocalError, memberFault } from './local-error.js';

export interface ReportBody {
  /** One id, or several accounts of one person. */
  readonly playerIds: readonly string[];
  readonly eventType: EventType;
  readonly gameId: string;
  readonly severity: number;
  /** The game's own name for the report; the same name identifies the same report. */
  readonly eventId: string | undefined;
  /** Time of the event in ms since 1970; undefined means now. */
  readonly at: number | undefined;
}

export interface AllowBody {
  readonly playerId: string;
  readonly until: number;
  readonly note: string;
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

export function reportOf(body: unknown, gameIds: readonly string[]): ReportBody {
  const given = objectOf(body, reportMembers);
  const { event_type: eventType, severity, event_id: eventId, timestamp } = given;
  const playerIds = given.player_ids === undefined ? [textOf(given, 'player_id', bounds.hashedIdLength)] : idsOf(given);
  if (typeof eventType !== 'string' || !Object.hasOwn(eventTypes, eventType)) {
    throw memberFault(
      '/event_type',
      eventType === undefined ? 'required' : 'enum',
      `event_type must be one of ${Object.keys(eventTypes).join(', ')}`,
    );
  }
  if (typeof severity !== 'number' || !(severity >= 0 && severity <= 1)) {
    throw memberFault(
      '/severity',
      severity === undefined ? 'required' : 'range',
      'severity must be a number from 0 to 1',
    );
  }
  if (
    eventId !== undefined &&
    (typeof eventId !== 'string' || eventId === '' || eventId.length > bounds.eventIdLength)
  ) {
    throw memberFault('/event_id', 'length', `event_id must be a string of 1 to ${bounds.eventIdLength} characters`);
  }
  return {
    playerIds,
    eventType: eventType as EventType,
    gameId: gameOf(given.game_id, gameIds),
    severity,
    eventId,
    at: timestamp === undefined ? undefined : timeOf(timestamp, 'timestamp'),
  };
}

function idsOf({ player_id, player_ids: ids }: Readonly<Record<string, unknown>>): readonly string[] {
  const isId = (id: unknown) => typeof id === 'string' && id !== '' && id.length <= bounds.hashedIdLength;
  const isList = Array.isArray(ids) && ids.length > 0 && ids.length <= bounds.personIds && ids.every(isId);
  if (isList && player_id === undefined) return ids;
  throw memberFault(
    '/player_ids',
    'type',
    `player_ids must be 1 to ${bounds.personIds} accounts of one person, without player_id`,
  );
}

export function allowOf(body: unknown): AllowBody {
  const given = objectOf(body, allowMembers);
  const playerId = textOf(given, 'player_id', bounds.hashedIdLength);
  const until = timeOf(given.until, 'until');
  const { note = '' } = given;
  if (typeof note !== 'string' || note.length > bounds.allowNoteLength) {
    throw memberFault('/note', 'length', `note must be a string of at most ${bounds.allowNoteLength} characters`);
  }
  return { playerId, until, note };
}

function objectOf(body: unknown, members: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw memberFault('', 'type', 'the body must be a JSON object');
  }
  const unknown = Object.keys(body).find((name) => !members.includes(name));
  if (unknown !== undefined) {
    const field = `/${unknown.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    throw memberFault(field, 'additionalProperties', `the body may have only these members: ${members.join(', ')}`);
  }
  return body as Readonly<Record<string, unknown>>;
}

function textOf(given: Readonly<Record<string, unknown>>, member: string, lengthMax: number): string {
  const value = given[member];
  if (typeof value === 'string' && value !== '' && value.length <= lengthMax) return value;
  const violation = value === undefined ? 'required' : 'type';
  throw memberFault(`/${member}`, violation, `${member} must be a string of 1 to ${lengthMax} characters`);
}

function gameOf(value: unknown, gameIds: readonly string[]): string {
  if (value === undefined && gameIds.length === 1) return gameIds[0]!;
  if (typeof value === 'string' && gameIds.includes(value)) return value;
  const violation = value === undefined ? 'required' : 'enum';
  throw memberFault('/game_id', violation, `game_id must be one of this peer's games: ${gameIds.join(', ')}`);
}

/** Returns whether the calendar has the day. `Date.parse` reads February 30 as March 2. */
function isDay(day: string): boolean {
  const at = Date.parse(day);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

function timeOf(value: unknown, member: string): number {
  const at =
    typeof value === 'string' && rfc3339.test(value) && isDay(value.slice(0, 10)) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  const violation = value === undefined ? 'required' : 'format';
  throw memberFault(`/${member}`, violation, `${member} must be a time in RFC 3339, such as 2026-11-25T12:00:00Z`);
}

export function jsonOf(text: string): unknown {
  try {
    // A byte order mark is no part of the text (RFC 8259, section 8.1).
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    throw new LocalError(400, 'malformed_json', 'the body must be JSON');
  }
}
