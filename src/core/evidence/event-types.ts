/**
 * Declares the event types: the direction in which each moves trust (-1 lowers it, 1 raises it, 0 revokes the lowering
 * of the same peer), and the evidence of one event of severity 1. The log stores `id`, whose meaning never changes; a
 * new type takes the next number, and so the next place in the table. A changed weight affects future events only,
 * because each record carries its mass as decided.
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

/** Uses a map: V8 finds properties by interned names, and a name parsed from JSON is a new string. */
export function eventTypeNamed(name: EventTypeName): EventType {
  return typesByName.get(name)!;
}

export function isEventTypeId(id: number): id is EventTypeId {
  return id > 0 && id <= eventTypeNames.length;
}

export function isMeasure(id: number): boolean {
  return id === eventTypes.ban_applied.id;
}

const raising: ReadonlySet<number> = new Set(
  eventTypeNames.filter((name) => eventTypes[name].sign > 0).map((name) => eventTypes[name].id),
);

export function raises(id: number): boolean {
  return raising.has(id);
}

/** True if an event of this type can be evidence. Only then can a second event repeat the first. */
export function isEvidence(id: number): boolean {
  return id !== eventTypes.ban_lifted.id;
}

/** True if an event revokes its peer's earlier lowering: not with severity 0, nor with a mass, as in old records. */
export function revokesLowering(event: { event_type: number; mass: number; severity: number }): boolean {
  return event.event_type === eventTypes.ban_lifted.id && event.mass === 0 && event.severity > 0;
}

export function eventTypeName(id: EventTypeId): EventTypeName {
  return eventTypeNames[id - 1]!;
}
