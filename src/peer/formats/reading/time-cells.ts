/** Converts the times of ban lists to ms since 1970. */
import { TZDate } from '@date-fns/tz';
import type { TimeUnit } from '../description.js';
import { names } from '../names.js';

/** End times from which tools mean "never". */
const foreverFrom = Date.UTC(2100, 0, 1);
const lastOf32Bits = 2 ** 31 - 1;

/** Smaller numbers of seconds, before 2001, are no times but truncated numbers or something else. */
const leastSeconds = 1_000_000_000;
/** No ban list is older than 2010, so that a smaller end is a truncated number. */
const leastEndSeconds = 1_262_304_000;

const dateTime =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:[.,]\d{1,9})?)?)?(?:\s*(Z|UTC|GMT|([+-]\d\d)(?::?(\d\d))?))?$/i;

/** .NET counts 100 ns since the year 1. */
const ticksEpochMs = 62_135_596_800_000;

function secondsTime(text: string): number | undefined {
  return /^\d{10,11}$/.test(text) && Number(text) >= leastSeconds ? Number(text) * 1_000 : undefined;
}

function millisTime(text: string): number | undefined {
  return /^\d{13,14}$/.test(text) && Number(text) >= leastSeconds * 1_000 ? Number(text) : undefined;
}

/** Reads a time; undefined if the text is none in this unit. A time without an offset is one in `timeZone`. */
export function timeOf(text: string, unit: TimeUnit, timeZone: string): number | undefined {
  if (unit === 's') return secondsTime(text);
  if (unit === 'ms') return millisTime(text);
  if (unit === 'text') return textTime(text, timeZone);
  if (unit === 'any') return millisTime(text) ?? secondsTime(text) ?? textTime(text, timeZone);
  return /^[6-9]\d{17}$|^[1-3]\d{18}$/.test(text) ? Number(BigInt(text) / 10_000n) - ticksEpochMs : undefined;
}

export const formOf: Readonly<Record<TimeUnit, string>> = {
  s: 'a number of seconds since 1970',
  ms: 'a number of ms since 1970',
  ticks: 'a number of .NET ticks',
  text: 'a time such as 2026-11-20 13:00:00 +0100',
  any: 'a time such as 2026-11-20T12:00:00Z',
};

const never = new RegExp(names.never, 'i');

export function endOf(text: string, unit: TimeUnit, timeZone: string): number | 'never' | undefined {
  if (never.test(text)) return 'never';
  // A number of ms is no end in seconds, far away as that would be.
  const isMs = millisTime(text) !== undefined && Number(text) < foreverFrom;
  if (unit === 's' && /^\d{12,20}$/.test(text)) return isMs ? undefined : 'never';
  if (unit === 'ms' && /^\d{15,20}$/.test(text)) return 'never';
  const at = timeOf(text, unit, timeZone);
  if (at === undefined || at < leastEndSeconds * 1_000) return undefined;
  return at >= foreverFrom || at === lastOf32Bits * 1_000 ? 'never' : at;
}

/** Reads a time in text form, such as `2026-11-20 13:00:00 +0100`; in `timeZone` if it has no offset. */
function textTime(text: string, timeZone: string): number | undefined {
  const match = dateTime.exec(text.trim());
  if (match === null) return undefined;
  const [, day, minute = '00:00', second = ':00', zone, hours, minutes = '00'] = match;
  const utc = new Date(`${day}T${minute}${second.replace(',', '.')}Z`);
  // `Date` reads February 30 as March 2.
  if (Number.isNaN(utc.getTime()) || !utc.toISOString().startsWith(day!)) return undefined;
  if (hours !== undefined) {
    if (Math.abs(Number(hours)) > 14) return undefined;
    const at = Date.parse(`${utc.toISOString().slice(0, -1)}${hours}:${minutes}`);
    return Number.isNaN(at) ? undefined : at;
  }
  if (zone !== undefined) return utc.getTime();
  const [hour, min, s] = [utc.getUTCHours(), utc.getUTCMinutes(), utc.getUTCSeconds()];
  const date = [utc.getUTCFullYear(), utc.getUTCMonth(), utc.getUTCDate()] as const;
  return new TZDate(...date, hour, min, s, utc.getUTCMilliseconds(), timeZone).getTime();
}

export function hasZone(text: string): boolean {
  return dateTime.exec(text.trim())?.[4] !== undefined;
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

export function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
