/** States how serious the entries of a ban list are, if the user names no severity, and the defaults of their decay. */
import type { ListRow } from '../formats/list-row.js';

export const DAY_MS = 86_400_000;

/** Entries whose weight has decayed below this are sent only on request. */
export const WEIGHT_MIN = 0.01;

export const HALF_LIFE_DAYS = 30;
export const BAN_HALF_LIFE_DAYS = 180;

/** A ban of this length or longer counts in full, like a permanent one. */
const FULL_DAYS = 30;
const BAN_SEVERITY_MIN = 0.2;

export type Measure = Pick<ListRow, 'kind' | 'bannedAt' | 'expiresAt' | 'lengthMs'>;

/**
 * Returns the severity of a row, above 0 and at most 1. A ban counts by its length: days / 30, at least 0.2. A ban
 * without a known end is permanent; one without a known begin begins at `now` (ms since 1970). A mark on a list
 * without a responsible admin counts less than a permanent ban.
 */
export function severityOf({ kind, bannedAt, expiresAt, lengthMs }: Measure, now: number): number {
  if (kind !== 'ban') return kind === 'cheating' ? 0.8 : 0.5;
  const ms = lengthMs ?? (expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt - (bannedAt ?? now));
  return Math.min(1, Math.max(BAN_SEVERITY_MIN, ms / (FULL_DAYS * DAY_MS)));
}
