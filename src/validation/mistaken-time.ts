/** Recognises mistaken forms of an RFC 3339 time in UTC, and suggests the time that was probably meant. */
import { parseUtcDateTime } from './formats.js';

/** Seconds, milliseconds, microseconds and nanoseconds, each in milliseconds. */
const unitsMs = [1_000, 1, 1e-3, 1e-6];
/** A number counts as a time if it lies in this century. No number lies in it in more than one unit. */
const plausibleFrom = Date.UTC(2000, 0);
const plausibleTo = Date.UTC(2100, 0);

const dateTime =
  /^(\d{4}-\d\d-\d\d)(?:\s+|[Tt])(\d\d:\d\d)(:\d\d)?(?:[.,](\d{1,9})\d*)?\s*([Zz]|UTC|[+-]\d\d(?::?\d\d)?)?$/;

/** Describes a value that is no time in the contract's form; `meant` is the time that it suggests, if any. */
export function mistakenTime(value: unknown): { readonly found: string; readonly meant?: string | undefined } {
  if (typeof value === 'number') return { found: 'a number', meant: timeOfNumber(value) };
  if (typeof value !== 'string') return { found: 'no time' };
  if (/^-?\d{1,20}(?:\.\d{1,20})?$/.test(value)) {
    return { found: 'a number in a string', meant: timeOfNumber(Number(value)) };
  }
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return { found: 'a date without a time' };
  // No supported notation is longer.
  const parts = value.length > 64 ? null : dateTime.exec(value.trim());
  if (parts === null) return { found: 'another text' };
  const [, date, minutes, seconds = ':00', fraction, zone] = parts;
  const local = `${date}T${minutes}${seconds}${fraction === undefined ? '' : `.${fraction}`}`;
  if (zone === undefined) return { found: 'a time without a zone', meant: admissible(`${local}Z`) };
  if (!/^[+-]/.test(zone)) return { found: 'another notation', meant: admissible(`${local}Z`) };
  // `Date.parse` reads 30 February as 2 March.
  if (admissible(`${local}Z`) === undefined) return { found: 'a time with an offset' };
  const hours = zone.slice(0, 3);
  const offset = `${hours}:${zone.length > 3 ? zone.slice(-2) : '00'}`;
  return { found: 'a time with an offset', meant: timeOf(Date.parse(`${local}${offset}`)) };
}

function timeOfNumber(value: number): string | undefined {
  return unitsMs
    .map((unit) => value * unit)
    .filter((ms) => ms >= plausibleFrom && ms < plausibleTo)
    .map(timeOf)[0];
}

function timeOf(ms: number): string | undefined {
  if (Number.isNaN(ms)) return undefined;
  return admissible(new Date(Math.trunc(ms)).toISOString().replace('.000Z', 'Z'));
}

function admissible(text: string): string | undefined {
  return parseUtcDateTime(text) === undefined ? undefined : text;
}
