/** Finds the part of a list that is certainly complete: half a line or document is never read. */
import { jsonIn } from '../../client/json-text.js';
import type { Description } from '../formats/description.js';

/**
 * Null if nothing can be read. `isStill`: unchanged for long, so that a last line without a break counts. `isWhole`:
 * the text contains the whole file, so that a ban missing in it is missing in the list.
 */
export function wholeTextOf(text: string, { shape }: Pick<Description, 'shape'>, isStill: boolean) {
  if (shape === 'json') return jsonIn(text) !== undefined ? { text, isWhole: true } : null;
  if (shape === 'xml') {
    const uncommented = text.split('-->').map((part) => part.split('<!--', 1)[0]);
    const plain = uncommented.join('').trimEnd();
    const root = /<([\w:-]+)[\s>]/.exec(plain)?.[1];
    return root !== undefined && plain.endsWith(`</${root}>`) ? { text, isWhole: true } : null;
  }
  if (text === '') return isStill ? { text, isWhole: true } : null;
  if (text.endsWith('\n') || isStill) return { text, isWhole: true };
  return { text: text.slice(0, text.lastIndexOf('\n') + 1), isWhole: false };
}
