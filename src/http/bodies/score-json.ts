/**
 * Writes the bodies of score answers as ASCII-only JSON, directly into one buffer of bytes: a match of 50 players takes
 * 4 us this way, and 18 to 24 us by template or by `JSON.stringify`.
 */

import type { ByteStrings } from '../../core/columns/byte-strings.js';
import { CONFIDENCE_UNIT, SCORE_UNIT, wholeConfidence, wholeScore } from '../../core/scoring/score.js';
import { verdictNumbers, verdicts } from '../../core/vocabulary.js';
import type { TrustView } from '../../group/api.js';
import { DAY_MS, limits } from '../../limits.js';
import type { MatchIds } from '../request/request-parameters.js';
import { asciiJson, type ExplanationBody, quoted, updatedHour } from './bodies.js';
import { ScoreTag } from './score-tag.js';

/** A constant part of a body, held as two doubles, so that it takes two writes. ASCII bytes never form a NaN. */
interface Part {
  readonly first: number;
  readonly second: number;
  readonly length: number;
}

const PART_BYTES = 16;

/** `text` must be ASCII of up to 16 characters. */
function part(text: string): Part {
  const padded = Buffer.from(text.padEnd(PART_BYTES));
  if (padded.length > PART_BYTES) throw new Error(`score text: ${text} is too long for a part`);
  return { first: padded.readDoubleLE(0), second: padded.readDoubleLE(8), length: text.length };
}

const parts = {
  rows: part('{"data":['),
  rowsEnd: part(']}'),
  playerId: part('{"player_id":'),
  score: part(',"score":'),
  confidence: part(',"confidence":'),
  verdict: part(',"verdict":"'),
  eventCount: part('","event_count":'),
  allowed: part(',"allowed":true'),
  updatedAt: part(',"updated_at":"'),
  hourEnd: part(':00:00.000Z"}'),
  notFound: part(',"code":"player_'),
  notFoundEnd: part('not_found"}'),
};
const verdictParts = verdicts.map(part);

/** Caches the texts of days. Each day has a fixed place in the table, which it shares with other days. */
const cachedDays = Array.from({ length: limits.timeStringsMax }, () => ({ day: -1, text: part('') }));

/** Bytes of a row with the longest id (each character as two units of `\ud83d` form) and the longest other values. */
const ROW_BYTES = limits.playerIdLength * 12 + 256;
const bytes = Buffer.alloc(limits.matchIdsMax * ROW_BYTES);
const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Returns `TrustScoreBody` of one player, and adds the values of the body to the tag. */
export function scoreJson(playerId: string, trust: TrustView, tag: ScoreTag): string {
  return textUpTo(writeTrust(writeId(write(0, parts.playerId), playerId), trust, tag));
}

export function explainedScoreJson(playerId: string, trust: TrustView, explain: ExplanationBody): string {
  const json = scoreJson(playerId, trust, new ScoreTag());
  return `${json.slice(0, -1)},"explain":${asciiJson(explain)}}`;
}

/** Returns `MatchScoresBody`, in the order of the ids, and adds its values to the tag. */
export function scoresJson(ids: MatchIds, trusts: readonly (TrustView | undefined)[], tag: ScoreTag): string {
  const { texts, isPlain } = ids;
  let at = write(0, parts.rows);
  for (let i = 0; i < texts.count; i++) {
    if (i > 0) bytes[at++] = 0x2c;
    const start = write(at, parts.playerId);
    const afterId = isPlain ? copyId(start, texts, i) : writeId(start, texts.text(i));
    const trust = trusts[i];
    at = trust === undefined ? writeUnknown(afterId, tag) : writeTrust(afterId, trust, tag);
  }
  return textUpTo(write(at, parts.rowsEnd));
}

function textUpTo(end: number): string {
  return bytes.toString('latin1', 0, end);
}

/** Writes the part after the id. This function and all below write from `at` on and return the end. */
function writeTrust(at: number, trust: TrustView, tag: ScoreTag): number {
  const score = wholeScore(trust);
  const confidence = wholeConfidence(trust);
  const verdict = verdictNumbers.get(trust.verdict)!;
  const { eventCount } = trust;
  const hour = updatedHour(trust);
  const isAllowed = trust.allowed !== undefined;
  tag.add(score, confidence, verdict, eventCount, hour, isAllowed);
  const afterScore = writeHundredths(write(at, parts.score), score);
  const afterConfidence = writeTenThousandths(write(afterScore, parts.confidence), confidence);
  const afterVerdict = write(write(afterConfidence, parts.verdict), verdictParts[verdict]!);
  const afterCount = writeWhole(write(afterVerdict, parts.eventCount), eventCount);
  const afterAllowed = isAllowed ? write(afterCount, parts.allowed) : afterCount;
  return writeHour(write(afterAllowed, parts.updatedAt), hour);
}

function writeUnknown(at: number, tag: ScoreTag): number {
  tag.addUnknown();
  return write(write(at, parts.notFound), parts.notFoundEnd);
}

function write(at: number, { first, second, length }: Part): number {
  view.setFloat64(at, first, true);
  view.setFloat64(at + 8, second, true);
  return at + length;
}

/**
 * Copies an id, which needs no escapes, between quotes: eight bytes at a time as a double, beyond its end if necessary.
 * No eight bytes of UTF-8 are a NaN.
 */
function copyId(at: number, texts: ByteStrings, i: number): number {
  const from = texts.start(i);
  const length = texts.length(i);
  bytes[at] = 0x22;
  for (let k = 0; k < length; k += 8) view.setFloat64(at + 1 + k, texts.view.getFloat64(from + k, true), true);
  bytes[at + 1 + length] = 0x22;
  return at + length + 2;
}

function writeId(at: number, playerId: string): number {
  bytes[at] = 0x22;
  for (let i = 0; i < playerId.length; i++) {
    const unit = playerId.charCodeAt(i);
    if (unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c) {
      return at + bytes.write(quoted(playerId), at, 'latin1');
    }
    bytes[at + 1 + i] = unit;
  }
  bytes[at + 1 + playerId.length] = 0x22;
  return at + playerId.length + 2;
}

function writeTwoDigits(at: number, n: number): number {
  // An exact division by ten, up to 178.
  const tens = (n * 205) >>> 11;
  bytes[at] = 0x30 + tens;
  bytes[at + 1] = 0x30 + n - tens * 10;
  return at + 2;
}

function writeWhole(at: number, n: number): number {
  if (n >= 100) return at + bytes.write(String(n), at, 'latin1');
  if (n >= 10) return writeTwoDigits(at, n);
  bytes[at] = 0x30 + n;
  return at + 1;
}

/** Writes `n / 100` as JavaScript prints it, without trailing zeros. */
function writeHundredths(at: number, n: number): number {
  const whole = Math.floor(n / SCORE_UNIT);
  const rest = n - whole * SCORE_UNIT;
  const end = writeWhole(at, whole);
  if (rest === 0) return end;
  bytes[end] = 0x2e;
  return withoutZeros(writeTwoDigits(end + 1, rest));
}

/** Writes `n / 10000` as JavaScript prints it; `n / 10000` is at most 1. */
function writeTenThousandths(at: number, n: number): number {
  if (n === 0 || n === CONFIDENCE_UNIT) return writeWhole(at, n / CONFIDENCE_UNIT);
  const hundredths = Math.floor(n / 100);
  bytes[at] = 0x30;
  bytes[at + 1] = 0x2e;
  return withoutZeros(writeTwoDigits(writeTwoDigits(at + 2, hundredths), n - hundredths * 100));
}

/** Returns the end of the digits after a decimal point, without trailing zeros. Not all of the digits may be 0. */
function withoutZeros(end: number): number {
  let last = end;
  while (bytes[last - 1] === 0x30) last--;
  return last;
}

/** `hour` counts since 1970. */
function writeHour(at: number, hour: number): number {
  const day = Math.floor(hour / 24);
  return write(writeTwoDigits(write(at, dayPart(day)), hour - day * 24), parts.hourEnd);
}

function dayPart(day: number): Part {
  const cached = cachedDays[day % cachedDays.length]!;
  if (cached.day !== day) {
    cached.day = day;
    cached.text = part(new Date(day * DAY_MS).toISOString().slice(0, -13));
  }
  return cached.text;
}
