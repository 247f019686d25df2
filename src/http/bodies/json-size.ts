/** Measures a parsed JSON value without recursion: the parser accepts values nested deeper than the stack. */
import { plainText } from './bodies.js';

/** Returns whether `value`, from `JSON.parse`, needs at most `bytesMax` bytes. Stops at the bound. */
export function isJsonWithin(value: unknown, bytesMax: number): boolean {
  const waiting: unknown[] = [value];
  let bytes = 0;
  while (waiting.length > 0 && bytes <= bytesMax) {
    const one = waiting.pop();
    if (typeof one !== 'object' || one === null) {
      bytes += writtenBytes(one);
      continue;
    }
    const names = Array.isArray(one) ? [] : Object.keys(one);
    const members: readonly unknown[] = Array.isArray(one) ? one : Object.values(one);
    bytes += '[]'.length + Math.max(0, members.length - 1);
    for (const name of names) bytes += writtenBytes(name) + ':'.length;
    for (const member of members) waiting.push(member);
  }
  return bytes <= bytesMax;
}

/** Measures plain scalars without encoding them, which would take as long as the parsing. */
function writtenBytes(scalar: unknown): number {
  if (typeof scalar === 'string' && plainText.test(scalar)) return scalar.length + '""'.length;
  if (scalar === null || typeof scalar === 'boolean' || Number.isFinite(scalar)) return String(scalar).length;
  return Buffer.byteLength(JSON.stringify(scalar));
}
