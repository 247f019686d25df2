/**
 * The string formats of the contract, as the schemas name them. Each is a pure test of one string; lengths are left to
 * the schemas, except where a pattern needs a bound of its own.
 */

/** Calendar, clock, fraction: group 7 holds the fraction digits where there are any. `-00:00` means "zone unknown" and is refused. */
const utcDateTime = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|\+00:00)$/;

const semanticVersion =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*)?(?:\+[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?$/;

/** The HTML standard's definition of a valid e-mail address. */
const email =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z\d](?:[A-Za-z\d-]{0,61}[A-Za-z\d])?(?:\.[A-Za-z\d](?:[A-Za-z\d-]{0,61}[A-Za-z\d])?)*$/;

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/**
 * Milliseconds since 1970 of an RFC 3339 date-time in UTC, or undefined where the text is not one in the contract's strict
 * reading: capital `T` and `Z` (or `+00:00`), at most 9 fraction digits (cut to the millisecond), no second 60.
 */
export function parseUtcDateTime(text: string): number | undefined {
  const found = utcDateTime.exec(text);
  if (found === null) return undefined;
  const month = Number(found[2]);
  const day = Number(found[3]);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(Number(found[1]), month)) return undefined;
  if (Number(found[4]) > 23 || Number(found[5]) > 59 || Number(found[6]) > 59) return undefined;
  // Through the parser and not `Date.UTC`, which reads the years 0 to 99 as 1900 to 1999.
  return Date.parse(`${text.slice(0, 19)}.${(found[7] ?? '').slice(0, 3).padEnd(3, '0')}Z`);
}

/** A major version number, or undefined where the text is not a semantic version (semver.org, 2.0.0). */
export function parseMajorVersion(text: string): number | undefined {
  const found = semanticVersion.exec(text);
  return found === null ? undefined : Number(found[1]);
}

/** With the `u` flag a surrogate pair is one code point, so that this matches only half of one. */
const loneSurrogate = /\p{Surrogate}/u;

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

export const formats = {
  'date-time': (text: string) => parseUtcDateTime(text) !== undefined,
  semver: (text: string) => semanticVersion.test(text),
  email: (text: string) => email.test(text),
  uuid: (text: string) => uuid.test(text),
  /** No lone surrogate, so that the string has a UTF-8 form to hash. */
  'well-formed': (text: string) => !loneSurrogate.test(text),
} as const;
