/** Declares the string formats of the schemas, each a pure test of one string; the schemas check lengths. */
import { Point } from '@noble/ed25519';

/** semver.org, 2.0.0. */
const semanticVersion =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*)?(?:\+[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?$/;

/** The HTML standard's definition of a valid e-mail address. */
const email =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z\d](?:[A-Za-z\d-]{0,61}[A-Za-z\d])?(?:\.[A-Za-z\d](?:[A-Za-z\d-]{0,61}[A-Za-z\d])?)*$/;

const utcDateTime = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|\+00:00)$/;

/**
 * Returns the milliseconds since 1970 of an RFC 3339 date-time in UTC; undefined if the text violates the contract's
 * strict reading: capital `T` and `Z` (or `+00:00`; `-00:00` means "zone unknown"), at most 9 fraction digits (cut to
 * the millisecond), no second 60.
 */
export function parseUtcDateTime(text: string): number | undefined {
  if (!utcDateTime.test(text)) return undefined;
  const ms = Date.parse(text);
  // `Date.parse` reads 30 February as 2 March.
  return new Date(ms).getUTCDate() === Number(text.slice(8, 10)) ? ms : undefined;
}

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/** True for a point of the curve (RFC 8032) that has no small order: under such a key anybody can sign. */
function isPublicKey(text: string): boolean {
  try {
    return !Point.fromBytes(Buffer.from(text, 'base64url')).isSmallOrder();
  } catch {
    return false;
  }
}

export const formats = {
  'date-time': (text: string) => parseUtcDateTime(text) !== undefined,
  semver: (text: string) => semanticVersion.test(text),
  email: (text: string) => email.test(text),
  uuid: (text: string) => uuid.test(text),
  'ed25519-public-key': isPublicKey,
} as const;
