/**
 * The expected listing of a player's events, from the oracle's list: weeks and counts follow from the calendar itself.
 */
import type { OwnEvent, PlayerEvents, SummaryRow } from '../../src/group/api.js';
import { Difference, same } from './difference.js';
import { type EventFact, isEvidence } from './facts.js';
import type { Oracle } from './oracle.js';

const dayMs = 86_400_000;
/** Peers below which nothing is split up, from the contract. */
const peersMin = 3;

/** The summary of these events, newest first as they came. */
function summaryOf(events: readonly EventFact[]): SummaryRow[] {
  if (events.length === 0) return [];
  if (new Set(events.map(({ peer }) => peer)).size < peersMin) return [{ eventType: 'other', count: events.length }];
  const counts = new Map<string, number>();
  for (const { type, timestamp } of events) {
    const key = `${isoWeek(timestamp)} ${type}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, count]) => {
    const [week, eventType] = key.split(' ') as [string, EventFact['type']];
    return { eventType, week, count };
  });
}

/** By the rule that week 1 is the one that holds 4 January, and weeks begin on Mondays. */
function isoWeek(at: number): string {
  for (const shift of [1, 0, -1]) {
    const year = new Date(at).getUTCFullYear() + shift;
    const fourth = Date.UTC(year, 0, 4);
    const monday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * dayMs;
    if (at < monday) continue;
    const week = Math.floor((at - monday) / (7 * dayMs)) + 1;
    return `${String(year).padStart(4, '0')}-W${String(week).padStart(2, '0')}`;
  }
  throw new Error(`no week holds ${at}`);
}

/** Rows in one order, for a comparison. */
function sorted(rows: readonly SummaryRow[]): string[] {
  return rows.map(({ eventType, week, count }) => `${week ?? ''} ${eventType} ${count}`).sort();
}

/** A request of a listing, and the player's events when its turn was taken. */
export interface ListingAsked {
  readonly what: string;
  readonly subject: string;
  /** Number of the peer whose own events are wanted. */
  readonly caller: number | null;
  readonly limit: number;
  /** All events of the player, newest first, from the cursor on; and those of all that counted. */
  readonly events: readonly EventFact[];
  readonly live: ReadonlySet<EventFact>;
  /** Peers that were to see their events as disputed then. */
  readonly disputed: ReadonlySet<number>;
}

/** The event to go on with, where there is a next page. */
export interface Cursor {
  readonly from: readonly number[];
  readonly event: EventFact;
}

/**
 * Exactly what the player had, unless something of it was taken back since, or is old enough to have left: that may be
 * in the listing or not, for the log is read a moment later.
 */
export function compareListing(oracle: Oracle, asked: ListingAsked, listing: PlayerEvents): Cursor | null {
  const { what, subject, caller, limit, events, live, disputed } = asked;
  const { total, summarised, summary, own, next } = listing;
  same('listing', `total of ${what}`, total, live.size);
  const wanted = events.filter((event) => live.has(event) && event.peer === caller);
  const found = own.map(({ seq: _, ...event }) => event);
  const isStill = oracle.knows(subject) && [...live].every((event) => oracle.isLive(event) && oracle.isStored(event));
  if (isStill) {
    const newest = [...live].slice(0, oracle.rules.summaryEventsMax);
    const isDisputed = caller !== null && disputed.has(caller);
    const expected = wanted.slice(0, limit).map((event) => listed(event, isDisputed));
    same('listing', `events of ${what}`, found, expected);
    same('listing', `summary of ${what}`, [summarised, sorted(summary)], [newest.length, sorted(summaryOf(newest))]);
    same('listing', `end of ${what}`, next === null, wanted.length <= limit);
    return next === null ? null : { from: next, event: wanted[limit]! };
  }
  const known = new Set(wanted.map(({ id }) => id));
  const extra = found.find(({ eventId }) => !known.has(eventId));
  if (extra !== undefined) throw new Difference('listing', `${what}: ${extra.eventId} is none of them`);
  const missing = wanted
    .slice(0, limit)
    .find(
      (event) => oracle.isLive(event) && oracle.isStored(event) && !found.some(({ eventId }) => eventId === event.id),
    );
  if (missing !== undefined && next === null) throw new Difference('listing', `${what}: lacks ${missing.id}`);
  return null;
}

function listed(event: EventFact, isDisputed: boolean): Omit<OwnEvent, 'seq'> {
  return {
    schemaVersion: event.schemaVersion,
    eventId: event.id,
    eventType: event.type,
    gameId: event.gameId,
    severity: event.severity,
    timestamp: event.timestamp,
    ...(event.origin === null ? {} : { origin: event.origin }),
    ...(event.reference === null ? {} : { reference: event.reference }),
    ...(isDisputed ? { disputed: true } : {}),
    receivedAt: event.receivedAt,
    ...(isEvidence(event) ? {} : { counts: false }),
  };
}
