/** Reads the parameters of paths and queries into values, or refuses them with `invalid_parameter`. Unknown ones are ignored. */
import { granted, type Outcome, type Refusal, refused } from '../errors.js';
import { limits } from '../limits.js';
import { type CursorKind, decodeCursor } from './cursor.js';
import { decodeText, rawQueryValues } from './head.js';

function invalid(text: string): Refusal {
  return refused('invalid_parameter', { text });
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
  const raw = single(query, 'explain');
  if (!raw.ok) return raw;
  if (raw.value === undefined || raw.value === 'false') return granted(false);
  return raw.value === 'true' ? granted(true) : invalid('explain must be true or false');
}

/** The ids of the match read: split at literal commas, then percent-decoded. */
export function readIds(query: string): Outcome<string[]> {
  const raw = singleRaw(query, 'ids');
  if (!raw.ok) return raw;
  const parts = (raw.value ?? '').split(',', limits.matchIdsMax + 1);
  if (parts.length > limits.matchIdsMax) return invalid(`ids holds more than ${limits.matchIdsMax} ids`);
  const ids: string[] = [];
  const isEscaped = raw.value?.includes('%');
  for (const part of parts) {
    const id = isEscaped ? decodeText(part) : part;
    if (id === undefined || !isPlayerId(id))
      return invalid('ids must be player ids, percent-encoded, with commas between');
    ids.push(id);
  }
  return granted(ids);
}

/** The player of a path. */
export function readPlayerId(id: string): Outcome<string> {
  return isPlayerId(id) ? granted(id) : invalid(`a player id has 1 to ${limits.playerIdLength} code points`);
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
