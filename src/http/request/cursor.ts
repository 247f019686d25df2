/** Encodes and decodes page cursors, which are opaque to callers and contain a short versioned text. */
import { limits } from '../../limits.js';

/** The listing that a cursor continues. Cursors of different listings are not interchangeable. */
export type CursorKind = 'peers' | 'audit' | 'erased';

const inside = /^1:(peers|audit|erased):(0|[1-9]\d{0,15})$/;
const several = /^1:events:([1-9]\d{0,15}(?:\.[1-9]\d{0,15})*)$/;

export function encodeCursor(kind: CursorKind, position: number): string {
  return Buffer.from(`1:${kind}:${position}`).toString('base64url');
}

/** Returns the position; undefined if the text is no cursor of this kind made by `encodeCursor`. */
export function decodeCursor(kind: CursorKind, text: string): number | undefined {
  if (text.length > limits.cursorLength) return undefined;
  const found = inside.exec(Buffer.from(text, 'base64url').toString('latin1'));
  if (found === null || found[1] !== kind) return undefined;
  const position = Number(found[2]);
  // The decoder skips characters outside base64url, so only a round trip detects a modified cursor.
  return Number.isSafeInteger(position) && encodeCursor(kind, position) === text ? position : undefined;
}

/** A listing of own events continues at one place for each of the caller's chains of events. */
export function encodePlaces(places: readonly number[]): string {
  return Buffer.from(`1:events:${places.join('.')}`).toString('base64url');
}

/** Returns the places; undefined if the text is no cursor made by `encodePlaces`. */
export function decodePlaces(text: string): number[] | undefined {
  if (text.length > limits.placesCursorLength) return undefined;
  const found = several.exec(Buffer.from(text, 'base64url').toString('latin1'));
  if (found === null) return undefined;
  const places = found[1]!.split('.').map(Number);
  return places.every(Number.isSafeInteger) && encodePlaces(places) === text ? places : undefined;
}
