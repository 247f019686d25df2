/** Page cursors: opaque to callers, a short versioned text inside. */
import { limits } from '../../limits.js';

/** The listing that a cursor continues. Cursors of different listings are not interchangeable. */
export type CursorKind = 'peers' | 'audit' | 'events' | 'erased';

const inside = /^1:(peers|audit|events|erased):(0|[1-9]\d{0,15})$/;

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
