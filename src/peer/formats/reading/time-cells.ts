/** Converts the times of ban lists to ms since 1970. */
import { TZDate } from '@date-fns/tz';

/** End times from which tools mean "never". */
const foreverFrom = Date.UTC(2100, 0, 1);
const lastOf32Bits = 2 ** 31 - 1;

/** Smaller numbers of seconds, before 2001, are no times but truncated numbers or something else. */
const leastSeconds = 1_000_000_000;
/** No ban list is older than 2010, so that a smaller end is a truncated number. */
const leastEndSeconds = 1_262_304_000;

const dateTime =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?(?:\s*(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?))?$/i;

/** The end of a measure: a time, never, or undefined if it cannot be read. */
export type End = { readonly at: number } | 'never' | undefined;

/** Reads a time in whole seconds; undefined if the text is none. */
export function secondsTime(text: string): number | undefined {
  return /^\d{10,11}$/.test(text) && Number(text) >= leastSeconds ? Number(text) * 1_000 : undefined;
}

/** Reads a time in whole milliseconds; undefined if the text is none. */
export function millisTime(text: string): number | undefined {
  return /^\d{13,14}$/.test(text) && Number(text) >= leastSeconds * 1_000 ? Number(text) : undefined;
}

function endOfTime(at: number | undefined): End {
  if (at === undefined) return undefined;
  return at >= foreverFrom || at === lastOf32Bits * 1_000 ? 'never' : { at };
}

/** Reads an end in seconds, where 0 and -1 mean never. */
export function secondsEnd(text: string): End {
  if (text === '0' || text === '-1' || /^\d{12,20}$/.test(text)) return 'never';
  const at = secondsTime(text);
  return at !== undefined && at < leastEndSeconds * 1_000 ? undefined : endOfTime(at);
}

/** Reads an end in ms, where 0 and -1 mean never. */
export function millisEnd(text: string): End {
  if (text === '0' || text === '-1' || /^\d{15,20}$/.test(text)) return 'never';
  return endOfTime(millisTime(text));
}

/** Reads a time in text form, such as `2026-11-20 13:00:00 +0100`; in `timeZone` if it has no offset. */
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

export function hasZone(text: string): boolean {
  return dateTime.exec(text.trim())?.[8] !== undefined;
}

/** Reads the end of a measure in text form. */
export function textEnd(text: string, timeZone: string): End {
  if (/^(?:forever|never|permanent|perm|infinite|none|null|0|-1)?$/i.test(text.trim())) return 'never';
  return endOfTime(textTime(text, timeZone));
}

export function anyTime(text: string, timeZone: string): number | undefined {
  return millisTime(text) ?? secondsTime(text) ?? textTime(text, timeZone);
}

/** Reads an end in any of these forms. */
export function anyEnd(text: string, timeZone: string): End {
  const number = millisTime(text) ?? secondsTime(text);
  return number === undefined ? textEnd(text, timeZone) : endOfTime(number);
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
