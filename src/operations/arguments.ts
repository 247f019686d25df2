/** Parses the arguments of the command line. Commander's error names the expected format. */
import { InvalidArgumentError } from 'commander';
import { DAY_MS, HOUR_MS, limits } from '../limits.js';
import { parseUtcDateTime } from '../validation/formats.js';
import { publicKey } from '../validation/identifiers.js';

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: HOUR_MS, d: DAY_MS };

/** Returns the ms of a number and one of the units, such as `12h`; NaN for another text. */
function timeOf(text: string, units: string): number {
  const [, number, unit = ''] = new RegExp(`^(\\d{1,6})([${units}])$`).exec(text) ?? [];
  return Number(number) * (unitsMs[unit] ?? Number.NaN);
}

/** Parses `30s`, `15m`, `1h` into ms; at most `limits.keyOverlapMsMax`. */
export function parseOverlap(text: string): number {
  const ms = timeOf(text, 'smh');
  if (ms <= limits.keyOverlapMsMax) return ms;
  throw new InvalidArgumentError(`Write a number and s, m or h, at most ${limits.keyOverlapMsMax / HOUR_MS}h: 1h`);
}

export function parseIdle(text: string): number {
  const ms = timeOf(text, 'mhd');
  if (ms <= limits.purgeIdleMsMax) return ms;
  throw new InvalidArgumentError(`Write a number and m, h or d, at most ${limits.purgeIdleMsMax / DAY_MS}d: 1d`);
}

export function parsePeerSet(text: string): readonly string[] {
  return text.trim() === 'none' ? [] : parseNames(text);
}

export function parseHalfLife(text: string): number {
  const days = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (days >= 0 && days <= limits.halfLifeDaysMax) return days;
  throw new InvalidArgumentError(`Write a whole number of days, 0 (no decay) to ${limits.halfLifeDaysMax}.`);
}

export function parseShare(text: string): number {
  const share = /^(?:\d|\d?\.\d{1,9})$/.test(text) ? Number(text) : 2;
  if (share <= 1) return share;
  throw new InvalidArgumentError('Write a number from 0 to 1: 0.1');
}

export const parseCount = countUpTo(limits.pageMax);

/** Returns the parser of a whole number from 1 to `most`. */
export function countUpTo(most: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    if (count >= 1 && count <= most) return count;
    throw new InvalidArgumentError(`Write a whole number from 1 to ${most}.`);
  };
}

export function parseNames(text: string): readonly string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length > 0) return names;
  throw new InvalidArgumentError('Write at least one, with commas between: chess,go');
}

/** Returns ISO 8601 in UTC; for a day, at a time of this day. */
function isoTimeOf(text: string, timeOfDay: string): string | undefined {
  const ms = parseUtcDateTime(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T${timeOfDay}Z` : text);
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

/** Parses a day in UTC (`2026-12-31`), up to its end, or a time in RFC 3339. Returns ISO 8601 in UTC. */
export function parseUntil(text: string): string {
  const time = isoTimeOf(text, '23:59:59.999');
  if (time !== undefined) return time;
  throw new InvalidArgumentError('Write a day, 2026-12-31, or a time in UTC, 2026-12-31T18:00:00Z.');
}

/** Parses a day or a time in UTC, or an age such as `12h` or `7d`. Returns a time in UTC, as ISO 8601. */
export function parseSince(text: string): string {
  const age = timeOf(text, 'mhd');
  if (!Number.isNaN(age)) return new Date(Date.now() - age).toISOString();
  const time = isoTimeOf(text, '00:00:00');
  if (time !== undefined) return time;
  throw new InvalidArgumentError('Write a day, 2026-12-31, a time in UTC, 2026-12-31T18:00:00Z, or an age, 12h or 7d.');
}

export function parsePublicKey(text: string): string {
  if (new RegExp(publicKey.pattern).test(text)) return text;
  throw new InvalidArgumentError('A public key is 32 raw bytes in base64url: 43 characters, without padding.');
}

export function parseHash(text: string): string {
  if (/^[\dA-Fa-f]{64}$/.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('A subject hash is 64 hexadecimal characters.');
}
