/** Encodes and decodes page cursors, which are opaque to callers and contain a short versioned text. */
import { limits } from '../../limits.js';

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
