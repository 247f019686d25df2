/** Formats times by RFC 3339. */

/** Returns the time in UTC with milliseconds; null for null. */
export function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
