/** What a listing of a player's events must hold, from the oracle's list: weeks and counts are told from the calendar itself. */
import type { SummaryRow } from '../../src/group/api.js';
import type { EventFact } from './facts.js';

const dayMs = 86_400_000;
/** Peers below which nothing is split up, from the contract. */
const peersMin = 3;

/** The summary of these events, newest first as they came. */
export function summaryOf(events: readonly EventFact[]): SummaryRow[] {
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
export function isoWeek(at: number): string {
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
export function sorted(rows: readonly SummaryRow[]): string[] {
  return rows.map(({ eventType, week, count }) => `${week ?? ''} ${eventType} ${count}`).sort();
}
