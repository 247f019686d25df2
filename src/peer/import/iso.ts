/** Times as RFC 3339. */

/** The time in UTC with milliseconds; null for null. */
export function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
