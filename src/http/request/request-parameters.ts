/** Parses the parameters of paths and queries, or refuses them with `invalid_parameter`. Unknown ones are ignored. */
import { ByteStrings } from '../../core/columns/byte-strings.js';
import { refusalOfRawIds } from '../../core/hashing/pseudonym.js';
import { granted, type Outcome, type Refusal, refused } from '../../errors.js';
import type { GroupIdentity } from '../../group/api.js';
import { limits } from '../../limits.js';
import { canonicalForm } from '../../player-ids/kinds.js';
import { characterViolation, isEventId } from '../../validation/identifiers.js';
import { decodeText, rawQueryValues } from './head.js';

function invalid(text: string): Refusal {
  return refused('invalid_parameter', { text });
}

function invalidId(parameter: string, name: string, refusal: string): Refusal {
  return refused('invalid_parameter', { text: `${name} ${refusal}`, details: { parameter, violation: 'pattern' } });
}

/** Returns at most one value, as sent. Two values are ambiguous and refused. */
function singleRaw(query: string, name: string): Outcome<string | undefined> {
  const values = rawQueryValues(query, name);
  if (values.length > 1) return invalid(`${name} is given more than once`);
  return granted(values[0]);
}

function single(query: string, name: string): Outcome<string | undefined> {
  const raw = singleRaw(query, name);
  if (!raw.ok || raw.value === undefined) return raw;
  const value = decodeText(raw.value);
  return value === undefined ? invalid(`${name} is not percent-encoded UTF-8`) : granted(value);
}

export function readLimit(query: string): Outcome<number> {
  const raw = single(query, 'limit');
  if (!raw.ok) return raw;
  if (raw.value === undefined) return granted(limits.pageDefault);
  const limit = /^\d{1,9}$/.test(raw.value) ? Number(raw.value) : 0;
  if (limit >= 1 && limit <= limits.pageMax) return granted(limit);
  return invalid(`limit must be a whole number from 1 to ${limits.pageMax}`);
}

/** The listing that a cursor continues. Cursors of different listings are not interchangeable. */
export type CursorKind = 'peers' | 'audit' | 'erased' | 'events';

const onePlace = '0|[1-9]\\d{0,15}';
const places = '[1-9]\\d{0,15}(?:\\.[1-9]\\d{0,15})*';

/** `events`, a listing of own events, continues at one place for each of the caller's chains of events. */
export function encodeCursor(kind: CursorKind, ...next: readonly number[]): string {
  return Buffer.from(`1:${kind}:${next.join('.')}`).toString('base64url');
}

/** Returns the places; undefined if the text is no cursor of this kind made by `encodeCursor`. */
export function decodeCursor(kind: CursorKind, text: string): readonly number[] | undefined {
  if (text.length > limits.cursorLength) return undefined;
  const form = new RegExp(`^1:${kind}:(${kind === 'events' ? places : onePlace})$`);
  const found = form.exec(Buffer.from(text, 'base64url').toString('latin1'))?.[1]?.split('.').map(Number);
  // The decoder skips characters outside base64url, so only a round trip detects a modified cursor.
  return found?.every(Number.isSafeInteger) && encodeCursor(kind, ...found) === text ? found : undefined;
}

export function readCursor(query: string, kind: CursorKind): Outcome<readonly number[] | null> {
  const raw = single(query, 'cursor');
  if (!raw.ok) return raw;
  if (raw.value === undefined) return granted(null);
  const places = decodeCursor(kind, raw.value);
  return places === undefined ? invalid('cursor must be a next_cursor of this listing') : granted(places);
}

export interface Page {
  readonly limit: number;
  /** The place at which the page begins: 0 without a cursor. */
  readonly from: number;
  readonly places: readonly number[] | null;
}

export function readPage(query: string, kind: CursorKind): Outcome<Page> {
  const limit = readLimit(query);
  if (!limit.ok) return limit;
  const cursor = readCursor(query, kind);
  if (!cursor.ok) return cursor;
  return granted({ limit: limit.value, from: cursor.value?.[0] ?? 0, places: cursor.value });
}

export function readExplain(query: string): Outcome<boolean> {
  if (query === '') return granted(false);
  const raw = single(query, 'explain');
  if (!raw.ok) return raw;
  if (raw.value === undefined || raw.value === 'false') return granted(false);
  return raw.value === 'true' ? granted(true) : invalid('explain must be true or false');
}

const matchIds = new ByteStrings();

/** The ids of a match, a borrowed view until the next call. `isPlain`: JSON writes all of them without escapes. */
export interface MatchIds {
  readonly texts: ByteStrings;
  readonly isPlain: boolean;
}

/**
 * Returns the ids of the match read: those of `ids`, decoded and then split at commas, so that a proxy that escapes the
 * commas changes nothing, and those of each `id`, which may contain commas.
 */
export function readIds(query: string): Outcome<MatchIds> {
  const raw = singleRaw(query, 'ids');
  if (!raw.ok) return raw;
  // A query of one parameter, which `ids` is, may have thousands of characters and is not searched again.
  const single = query.includes('&') || raw.value === undefined ? rawQueryValues(query, 'id') : [];
  const value = raw.value ?? '';
  const isPlain = single.length === 0 && !(value.includes('%') || value.includes('"') || value.includes('\\'));
  matchIds.clear();
  if (isPlain) matchIds.pushSplit(value, ',');
  else {
    const refusal = decodeInto(matchIds, raw.value, single);
    if (refusal !== undefined) return refusal;
  }
  if (matchIds.count > limits.matchIdsMax) return invalid(`ids must have at most ${limits.matchIdsMax} ids`);
  for (let i = 0; i < matchIds.count; i++) {
    const length = matchIds.length(i);
    if (length === 0 || (length > limits.playerIdLength && !isPlayerId(matchIds.text(i)))) return invalid(noIds);
  }
  return granted({ texts: matchIds, isPlain });
}

const noIds = 'ids must be percent-encoded player ids, separated by commas; each id may be a player id with commas';

/** Returns the refusal of the first id that is not percent-encoded UTF-8, or that has forbidden characters. */
function decodeInto(ids: ByteStrings, listed: string | undefined, single: readonly string[]): Refusal | undefined {
  const list = listed === undefined ? [] : decodeText(listed)?.split(',', limits.matchIdsMax + 1);
  const texts =
    list === undefined ? [undefined] : [...list, ...single.slice(0, limits.matchIdsMax + 1).map(decodeText)];
  for (const [place, id] of texts.entries()) {
    if (id === undefined || id === '') return invalid(noIds);
    const refusal = characterViolation(id);
    if (refusal !== undefined) return invalidId('ids', `id ${place + 1} of ids`, refusal);
    ids.push(id);
  }
  return undefined;
}

export function readPlayerId(id: string): Outcome<string> {
  if (!isPlayerId(id)) return invalid(`a player id has 1 to ${limits.playerIdLength} code points`);
  const refusal = characterViolation(id);
  return refusal === undefined ? granted(id) : invalidId('id', 'a player id', refusal);
}

/** Returns the event id of a path. An id that no event can have is refused like that of a missing event. */
export function readEventId(id: string): Outcome<string> {
  if (isEventId(id)) return granted(id);
  const refusal = id.length > limits.eventIdLength ? undefined : characterViolation(id);
  return refusal === undefined ? refused('event_not_found') : invalidId('event_id', 'an event id', refusal);
}

export function readSubjectHash(hash: string): Outcome<string> {
  return /^[\dA-Fa-f]{64}$/.test(hash)
    ? granted(hash.toLowerCase())
    : invalid('a subject hash is 64 hexadecimal characters');
}

function isPlayerId(text: string): boolean {
  if (text === '') return false;
  // A code point has at most two units, so most ids need no counting.
  return (
    text.length <= limits.playerIdLength ||
    (text.length <= 2 * limits.playerIdLength && [...text].length <= limits.playerIdLength)
  );
}

/** Returns the refusal of an id without a pseudonym. The text never contains the id. */
export function rawIdRefusal({ identityMode, playerIdKinds = [] }: GroupIdentity): Refusal {
  const code = refusalOfRawIds(identityMode);
  if (code === 'subject_hash_required') return refused(code);
  const forms = playerIdKinds.map((kind) => ({ kind, form: canonicalForm(kind) }));
  return refused(code, {
    text: `player_id must be a subject hash or canonical for one of the group's kinds; ${forms.map(({ kind, form }) => `${kind}: ${form}`).join('; ')}`,
    details: { canonical_forms: forms },
  });
}
