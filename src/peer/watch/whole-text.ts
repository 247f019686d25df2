/** Finds the part of a list that is certainly complete: half a line is never read, nor half a document that changes. */
import { jsonIn } from '../../client/for-peer.js';
import type { Description } from '../formats/description.js';

/**
 * Null if nothing can be read yet. `isStill`: unchanged for long, so that a last line without a break counts, and a
 * document that is not complete is damaged. `isWhole`: a ban that is missing in the text is missing in the file.
 */
export function wholeTextOf(text: string, { shape }: Pick<Description, 'shape'>, isStill: boolean) {
  if (isStill) return { text, isWhole: true };
  if (shape === 'json') return jsonIn(text) !== undefined ? { text, isWhole: true } : null;
  if (shape === 'xml') {
    const uncommented = text.split('-->').map((part) => part.split('<!--', 1)[0]);
    const plain = uncommented.join('').trimEnd();
    const root = /<([\w:-]+)[\s>]/.exec(plain)?.[1];
    return root !== undefined && plain.endsWith(`</${root}>`) ? { text, isWhole: true } : null;
  }
  const end = text.lastIndexOf('\n') + 1;
  return text === '' ? null : { text: text.slice(0, end), isWhole: end === text.length };
}
