/**
 * Declares the string formats of the schemas, each as a pure test of one string. The schemas check lengths, except if a
 * pattern needs a bound of its own. Also parses times.
 */
import { Point } from '@noble/ed25519';
import { DAY_MS } from '../limits.js';

/** semver.org, 2.0.0. */
const semanticVersion =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*)?(?:\+[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?$/;

/** The HTML standard's definition of a valid e-mail address. */
const email =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z\d](?:[A-Za-z\d-]{0,61}[A-Za-z\d])?(?:\.[A-Za-z\d](?:[A-Za-z\d-]{0,61}[A-Za-z\d])?)*$/;

/** The version that was found valid last: a peer sends the same version with every event. */
let newestVersion = '';

function isSemanticVersion(text: string): boolean {
  if (text === newestVersion) return true;
  if (!semanticVersion.test(text)) return false;
  newestVersion = text;
  return true;
}

const minuteMs = 60_000;
/** Form of `2026-01-02T03:04:05`; `0` stands for a digit. */
const dateTimeForm = '0000-00-00T00:00:00';

/** Cache of the last parsed text: a handler parses the text that the schema has just checked. */
let readText = '';
let readMs: number | undefined;

/**
 * Returns the milliseconds since 1970 of an RFC 3339 date-time in UTC; undefined if the text violates the contract's
 * strict reading: capital `T` and `Z` (or `+00:00`; `-00:00` means "zone unknown"), at most 9 fraction digits (cut to
 * the millisecond), no second 60. Hand-written for speed, because every event needs it.
 */
export function parseUtcDateTime(text: string): number | undefined {
  if (text !== readText) {
    readMs = utcDateTime(text);
    readText = text;
  }
  return readMs;
}

function utcDateTime(text: string): number | undefined {
  if (text.length > dateTimeForm.length + 16) return undefined;
  for (let i = 0; i < dateTimeForm.length; i++) {
    const isDigit = digitAt(text, i) >= 0;
    if (dateTimeForm[i] === '0' ? !isDigit : text[i] !== dateTimeForm[i]) return undefined;
  }
  let at = dateTimeForm.length;
  let fraction = 0;
  if (text[at] === '.') {
    const from = ++at;
    while (digitAt(text, at) >= 0) at++;
    if (at === from || at - from > 9) return undefined;
    for (let i = 0; i < 3; i++) fraction = fraction * 10 + (from + i < at ? digitAt(text, from + i) : 0);
  }
  const zone = text.slice(at);
  if (zone !== 'Z' && zone !== '+00:00') return undefined;
  const date = dateMs(numberAt(text, 0, 4), numberAt(text, 5, 2), numberAt(text, 8, 2));
  const [hour, minute, second] = [numberAt(text, 11, 2), numberAt(text, 14, 2), numberAt(text, 17, 2)];
  if (date === undefined || hour > 23 || minute > 59 || second > 59) return undefined;
  return date + (hour * 60 + minute) * minuteMs + second * 1000 + fraction;
}

/** Returns the digit at an index, or -1. */
function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 48;
  return digit >= 0 && digit <= 9 ? digit : -1;
}

function numberAt(text: string, at: number, digits: number): number {
  let number = 0;
  for (let i = at; i < at + digits; i++) number = number * 10 + digitAt(text, i);
  return number;
}

/** Returns the ms since 1970 of a date of the Gregorian calendar; undefined if there is no such day. */
function dateMs(year: number, month: number, day: number): number | undefined {
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  // Years begin in March here, so that a leap day is the last of its year; 400 years have 146,097 days.
  const y = month > 2 ? year : year - 1;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return (era * 146_097 + dayOfEra - 719_468) * DAY_MS;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
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
  semver: isSemanticVersion,
  email: (text: string) => email.test(text),
  uuid: (text: string) => uuid.test(text),
  'ed25519-public-key': isPublicKey,
} as const;
