/** Finds the part of a list that is certainly complete: half a line or document is never read. */
import { jsonIn } from '../../client/json-text.js';
import type { Description } from '../formats/description.js';

export interface WholeText {
  readonly text: string;
  /** True if the text contains the whole file, so that a ban missing in it is missing in the list. */
  readonly isWhole: boolean;
}

/** Null if nothing can be read. `isStill`: unchanged for long, so that a last line without a break counts. */
export function wholeTextOf(text: string, { shape }: Pick<Description, 'shape'>, isStill: boolean): WholeText | null {
  if (shape === 'json') return jsonIn(text) !== undefined ? { text, isWhole: true } : null;
  if (shape === 'xml') {
    const root = /<([\w:-]+)[\s>]/.exec(text)?.[1];
    return root !== undefined && text.trimEnd().endsWith(`</${root}>`) ? { text, isWhole: true } : null;
  }
  if (text === '') return isStill ? { text, isWhole: true } : null;
  if (text.endsWith('\n') || isStill) return { text, isWhole: true };
  return { text: text.slice(0, text.lastIndexOf('\n') + 1), isWhole: false };
}
