/**
 * The size of parsed JSON as it would be written without blanks, in UTF-8. Never by recursion, which `JSON.stringify`
 * measures by: the parser reads values that are nested deeper than the stack can follow.
 */
import { plainText } from './bodies.js';

/** Whether `value`, which `JSON.parse` made, takes `bytesMax` bytes at most; nothing beyond them is looked at. */
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

/** What is plain is not written out only to be measured, which would take as long again as the parsing. */
function writtenBytes(scalar: unknown): number {
  if (typeof scalar === 'string' && plainText.test(scalar)) return scalar.length + '""'.length;
  if (scalar === null || typeof scalar === 'boolean' || Number.isFinite(scalar)) return String(scalar).length;
  return Buffer.byteLength(JSON.stringify(scalar));
}
