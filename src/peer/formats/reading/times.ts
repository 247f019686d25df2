/** Times as ban lists write them, as ms since 1970. */
import { TZDate } from '@date-fns/tz';

/** Ends that tools write for "never". */
const foreverFrom = Date.UTC(2100, 0, 1);
const lastOf32Bits = 2 ** 31 - 1;

/** Seconds below this, of 2001, are no times but numbers that were cut or mean something else. */
const leastSeconds = 1_000_000_000;
/** No list of bans is older than 2010, so that a smaller end is a greater number that was cut. */
const leastEndSeconds = 1_262_304_000;

const dateTime =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?(?:\s*(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?))?$/i;

/** What a list says about an end: at a time, never, or nothing that can be read. */
export type End = { readonly at: number } | 'never' | undefined;

/** A time in whole seconds; undefined where the text is none. */
export function secondsTime(text: string): number | undefined {
  return /^\d{10,11}$/.test(text) && Number(text) >= leastSeconds ? Number(text) * 1_000 : undefined;
}

/** A time in whole milliseconds; undefined where the text is none. */
export function millisTime(text: string): number | undefined {
  return /^\d{13,14}$/.test(text) && Number(text) >= leastSeconds * 1_000 ? Number(text) : undefined;
}

function endOfTime(at: number | undefined): End {
  if (at === undefined) return undefined;
  return at >= foreverFrom || at === lastOf32Bits * 1_000 ? 'never' : { at };
}

/** An end in seconds, where 0 and -1 say never. */
export function secondsEnd(text: string): End {
  if (text === '0' || text === '-1' || /^\d{12,20}$/.test(text)) return 'never';
  const at = secondsTime(text);
  return at !== undefined && at < leastEndSeconds * 1_000 ? undefined : endOfTime(at);
}

/** An end in ms, where 0 and -1 say never. */
export function millisEnd(text: string): End {
  if (text === '0' || text === '-1' || /^\d{15,20}$/.test(text)) return 'never';
  return endOfTime(millisTime(text));
}

/** A time that stands as text, such as `2026-11-20 13:00:00 +0100`; in `timeZone` where it names no offset. */
export function textTime(text: string, timeZone: string): number | undefined {
  const match = dateTime.exec(text.trim());
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0));
  const ms = Math.floor(Number(`0.${match[7] ?? '0'}`) * 1_000);
  const utc = Date.UTC(year!, month! - 1, day!, hour!, minute!, second!, ms);
  const read = new Date(utc);
  const isReal = read.getUTCMonth() === month! - 1 && read.getUTCDate() === day && hour! < 24 && minute! < 60;
  if (!isReal || second! > 59) return undefined;
  const offset = match[8];
  if (offset === undefined) {
    return new TZDate(year!, month! - 1, day!, hour!, minute!, second!, ms, timeZone).getTime();
  }
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)?$/.exec(offset) ?? [];
  if (sign === undefined) return utc;
  if (Number(hours) > 14 || Number(minutes ?? 0) > 59) return undefined;
  const shift = (Number(hours) * 60 + Number(minutes ?? 0)) * 60_000;
  return sign === '+' ? utc - shift : utc + shift;
}

/** Whether a time that stands as text says in which zone it is. */
export function hasZone(text: string): boolean {
  return dateTime.exec(text.trim())?.[8] !== undefined;
}

/** The end of a measure that stands as text. */
export function textEnd(text: string, timeZone: string): End {
  if (/^(?:forever|never|permanent|perm|infinite|none|null|0|-1)?$/i.test(text.trim())) return 'never';
  return endOfTime(textTime(text, timeZone));
}

/** A time in any of these forms. */
export function anyTime(text: string, timeZone: string): number | undefined {
  return millisTime(text) ?? secondsTime(text) ?? textTime(text, timeZone);
}

/** An end in any of these forms. */
export function anyEnd(text: string, timeZone: string): End {
  const number = millisTime(text) ?? secondsTime(text);
  return number === undefined ? textEnd(text, timeZone) : endOfTime(number);
}

/** Whether the machine knows a time zone of this name. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
