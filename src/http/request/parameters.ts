/**
 * Reads the parameters of paths and queries into values, or refuses them with `invalid_parameter`. Unknown ones are
 * ignored.
 */
import { ByteStrings } from '../../core/columns/byte-strings.js';
import { granted, type Outcome, type Refusal, refused } from '../../errors.js';
import { limits } from '../../limits.js';
import { characterViolation, isEventId } from '../../validation/identifiers.js';
import { type CursorKind, decodeCursor } from './cursor.js';
import { decodeText, rawQueryValues } from './head.js';

function invalid(text: string): Refusal {
  return refused('invalid_parameter', { text });
}

/** For an id with characters that no id may have; `fault` says which, as the end of a sentence. */
function invalidId(parameter: string, name: string, refusal: string): Refusal {
  return refused('invalid_parameter', { text: `${name} ${refusal}`, details: { parameter, violation: 'pattern' } });
}

/** One value at most, as sent: which of two a caller means is not ours to guess. */
function singleRaw(query: string, name: string): Outcome<string | undefined> {
  const values = rawQueryValues(query, name);
  if (values.length > 1) return invalid(`${name} is given more than once`);
  return granted(values[0]);
}

/** The same, percent-decoded. */
function single(query: string, name: string): Outcome<string | undefined> {
  const raw = singleRaw(query, name);
  if (!raw.ok || raw.value === undefined) return raw;
  const value = decodeText(raw.value);
  return value === undefined ? invalid(`${name} is not percent-encoded UTF-8`) : granted(value);
}

/** 1 to `limits.pageMax`; `limits.pageDefault` where absent. */
export function readLimit(query: string): Outcome<number> {
  const raw = single(query, 'limit');
  if (!raw.ok) return raw;
  if (raw.value === undefined) return granted(limits.pageDefault);
  const limit = /^\d{1,9}$/.test(raw.value) ? Number(raw.value) : 0;
  if (limit >= 1 && limit <= limits.pageMax) return granted(limit);
  return invalid(`limit must be a whole number from 1 to ${limits.pageMax}`);
}

/** The position that a cursor stands for; null where absent. */
export function readCursor(query: string, kind: CursorKind): Outcome<number | null> {
  const raw = single(query, 'cursor');
  if (!raw.ok) return raw;
  if (raw.value === undefined) return granted(null);
  const position = decodeCursor(kind, raw.value);
  return position === undefined ? invalid('cursor is not one that this listing gave out') : granted(position);
}

/** False where absent. */
export function readExplain(query: string): Outcome<boolean> {
  if (query === '') return granted(false);
  const raw = single(query, 'explain');
  if (!raw.ok) return raw;
  if (raw.value === undefined || raw.value === 'false') return granted(false);
  return raw.value === 'true' ? granted(true) : invalid('explain must be true or false');
}

/** Reused from match to match. */
const matchIds = new ByteStrings();

const COMMA = 0x2c;

/** The ids of a match. `isPlain`: JSON writes each of them as it is. They hold until the next call. */
export interface MatchIds {
  readonly texts: ByteStrings;
  readonly isPlain: boolean;
}

/**
 * The ids of the match read: split at literal commas, then percent-decoded. The query is of the characters of a target.
 */
export function readIds(query: string): Outcome<MatchIds> {
  const raw = singleRaw(query, 'ids');
  if (!raw.ok) return raw;
  const value = raw.value ?? '';
  const isPlain = !(value.includes('%') || value.includes('"') || value.includes('\\'));
  matchIds.clear();
  if (isPlain) matchIds.pushSplit(value, COMMA);
  else {
    const refusal = decodeInto(matchIds, value);
    if (refusal !== undefined) return refusal;
  }
  if (matchIds.count > limits.matchIdsMax) return invalid(`ids holds more than ${limits.matchIdsMax} ids`);
  for (let i = 0; i < matchIds.count; i++) {
    const length = matchIds.length(i);
    if (length === 0 || (length > limits.playerIdLength && !isPlayerId(matchIds.text(i)))) return invalid(noIds);
  }
  return granted({ texts: matchIds, isPlain });
}

const noIds = 'ids must be player ids, percent-encoded, with commas between';

/** The fault of the first id that is not percent-encoded UTF-8, or has characters that no id may have. */
function decodeInto(ids: ByteStrings, value: string): Refusal | undefined {
  for (const [place, part] of value.split(',', limits.matchIdsMax + 1).entries()) {
    const id = decodeText(part);
    if (id === undefined || id === '') return invalid(noIds);
    const refusal = characterViolation(id);
    if (refusal !== undefined) return invalidId('ids', `id ${place + 1} of ids`, refusal);
    ids.push(id);
  }
  return undefined;
}

/** The player of a path. */
export function readPlayerId(id: string): Outcome<string> {
  if (!isPlayerId(id)) return invalid(`a player id has 1 to ${limits.playerIdLength} code points`);
  const refusal = characterViolation(id);
  return refusal === undefined ? granted(id) : invalidId('id', 'a player id', refusal);
}

/** The event of a path. An id that no event can have is an event that does not exist. */
export function readEventId(id: string): Outcome<string> {
  if (isEventId(id)) return granted(id);
  const refusal = id.length > limits.eventIdLength ? undefined : characterViolation(id);
  return refusal === undefined ? refused('event_not_found') : invalidId('event_id', 'an event id', refusal);
}

/** The subject hash of a path, lower-cased. */
export function readSubjectHash(hash: string): Outcome<string> {
  return /^[\dA-Fa-f]{64}$/.test(hash)
    ? granted(hash.toLowerCase())
    : invalid('a subject hash is 64 hexadecimal characters');
}

function isPlayerId(text: string): boolean {
  if (text === '') return false;
  // A code point takes at most two units, so that most ids need no counting.
  return (
    text.length <= limits.playerIdLength ||
    (text.length <= 2 * limits.playerIdLength && [...text].length <= limits.playerIdLength)
  );
}
