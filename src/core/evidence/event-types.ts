/**
 * The table of event types: which way each moves trust (-1 lowers it, 1 raises it, 0 takes back what its peer lowered)
 * and how much evidence one event of severity 1 is worth. `id` is written into the log and never changes its meaning; a
 * new type takes the next number. Changing a weight moves future events only, because a record carries its mass as
 * decided.
 */

export const eventTypes = {
  report_cheating: { id: 1, sign: -1, baseWeight: 1 },
  report_toxicity: { id: 2, sign: -1, baseWeight: 0.5 },
  report_spam: { id: 3, sign: -1, baseWeight: 0.25 },
  friendly_fire: { id: 4, sign: -1, baseWeight: 0.5 },
  ban_applied: { id: 5, sign: -1, baseWeight: 1 },
  session_anomaly: { id: 6, sign: -1, baseWeight: 0.5 },
  matchmaking_fraud: { id: 7, sign: -1, baseWeight: 1 },
  commendation: { id: 8, sign: 1, baseWeight: 1 },
  ban_lifted: { id: 9, sign: 0, baseWeight: 0 },
  session_clean: { id: 10, sign: 1, baseWeight: 0.3 },
} as const satisfies Record<string, { id: number; sign: -1 | 0 | 1; baseWeight: number }>;

export type EventTypeName = keyof typeof eventTypes;
export type EventTypeId = (typeof eventTypes)[EventTypeName]['id'];

export const eventTypeNames = Object.keys(eventTypes) as EventTypeName[];

type EventType = (typeof eventTypes)[EventTypeName];

const typesByName: ReadonlyMap<EventTypeName, EventType> = new Map(
  eventTypeNames.map((name) => [name, eventTypes[name]]),
);

/**
 * From a map, since a name that was read from JSON is new to V8, which looks for properties among the names that it
 * knows.
 */
export function eventTypeNamed(name: EventTypeName): EventType {
  return typesByName.get(name)!;
}

const namesById = Object.fromEntries(eventTypeNames.map((name) => [eventTypes[name].id, name])) as Record<
  EventTypeId,
  EventTypeName
>;

const newestId = eventTypeNames.length;

/** Whether this release knows the number, which are given out from 1 on without a gap. */
export function isEventTypeId(id: number): id is EventTypeId {
  return id > 0 && id <= newestId;
}

/** Whether an event of this type can be evidence: only then a second one of the same timestamp repeats a first. */
export function isEvidence(id: number): boolean {
  return id !== eventTypes.ban_lifted.id;
}

/**
 * Whether an event takes back what its peer lowered. Records of earlier releases have a `ban_lifted` that raises trust;
 * theirs carry a mass, one of no severity takes nothing back.
 */
export function revokesLowering({
  event_type,
  mass,
  severity,
}: {
  event_type: number;
  mass: number;
  severity: number;
}): boolean {
  return event_type === eventTypes.ban_lifted.id && mass === 0 && severity > 0;
}

export function eventTypeName(id: EventTypeId): EventTypeName {
  return namesById[id];
}
