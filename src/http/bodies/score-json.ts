/** Writes score answers as ASCII-only JSON into one buffer (docs/decisions/0015-fast-path-in-front-of-koa.md). */
import type { ByteStrings } from '../../core/columns/byte-strings.js';
import { CONFIDENCE_UNIT, SCORE_UNIT, wholeConfidence, wholeScore } from '../../core/scoring/score.js';
import { verdictNumbers, verdicts } from '../../core/vocabulary.js';
import type { TrustView } from '../../group/api.js';
import { DAY_MS, limits } from '../../limits.js';
import type { MatchIds } from '../request/request-parameters.js';
import { asciiJson, type ExplanationBody, quoted, updatedHour } from './bodies.js';

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
  return `${scoreJson(playerId, trust, new ScoreTag()).slice(0, -1)},"explain":${asciiJson(explain)}}`;
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
  const tens = Math.floor(n / 10);
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

const UNKNOWN = -1;

/** Number of distinct published confidences, and of distinct scores. */
const FIGURES = CONFIDENCE_UNIT + 1;

/**
 * Computes the entity tag of an answer with scores from the figures of each player; the URL names the players. A new
 * member of these bodies must enter the tag too; otherwise a caller that cached the old body would never receive it.
 */
export class ScoreTag {
  // Two sums like the final step of murmur3. A difference in one figure always changes the tag; differences in several
  // do, except for one case in 2 ** 64.
  #a = 0x2545f491;
  #b = 0x4f6cdd1d;

  /** Adds the next player's figures: score, confidence (smallest units), number of the verdict, hour since 1970. */
  add(score: number, confidence: number, verdict: number, eventCount: number, hour: number, isAllowed = false): void {
    // The first figure takes 29 bits. An allowed player has an inverted hour, which no other player has.
    this.#mix((score * FIGURES + confidence) * verdicts.length + verdict, eventCount, isAllowed ? ~hour : hour);
  }

  addUnknown(): void {
    this.#mix(UNKNOWN, 0, 0);
  }

  /** Decimal: another base takes six times as long. */
  get text(): string {
    return `${this.#a}_${this.#b}`;
  }

  #mix(rounded: number, eventCount: number, hour: number): void {
    this.#a = mixed(this.#a, rounded, eventCount, hour, 0x85ebca6b, 0xc2b2ae35);
    this.#b = mixed(this.#b, rounded, eventCount, hour, 0xcc9e2d51, 0x1b873593);
  }
}

/** Each step is invertible, so that two different values of one figure give different results. */
function mixed(sum: number, first: number, second: number, third: number, odd: number, other: number): number {
  const one = Math.imul(sum ^ first, odd);
  const two = Math.imul(one ^ (one >>> 15) ^ second, other);
  const three = Math.imul(two ^ (two >>> 13) ^ third, odd);
  return three ^ (three >>> 16);
}
