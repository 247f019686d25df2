/** Formats times by RFC 3339. */

export function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
