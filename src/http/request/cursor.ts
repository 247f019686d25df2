/** Page cursors: opaque to callers, a small versioned text inside. */
import { limits } from '../../limits.js';

/** What a cursor continues; one listing's cursor is not another's. */
export type CursorKind = 'peers' | 'audit' | 'events' | 'erased';

const inside = /^1:(peers|audit|events|erased):(0|[1-9]\d{0,15})$/;

export function encodeCursor(kind: CursorKind, position: number): string {
  return Buffer.from(`1:${kind}:${position}`).toString('base64url');
}

/** The position, or undefined where the text is no cursor of this kind that `encodeCursor` could have made. */
export function decodeCursor(kind: CursorKind, text: string): number | undefined {
  if (text.length > limits.cursorLength) return undefined;
  const found = inside.exec(Buffer.from(text, 'base64url').toString('latin1'));
  if (found === null || found[1] !== kind) return undefined;
  const position = Number(found[2]);
  // The decoder skips what is not base64url, so that only the round trip shows a cursor that was tampered with.
  return Number.isSafeInteger(position) && encodeCursor(kind, position) === text ? position : undefined;
}
