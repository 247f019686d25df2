/**
 * Finds the part of a list that is certainly complete, so that neither half a line nor half a document is ever read.
 */

import type { Description } from '../formats/description.js';

export interface WholeText {
  readonly text: string;
  /** True if the text contains the whole file, so that a ban missing in it is missing in the list. */
  readonly isWhole: boolean;
}

/**
 * Returns the part of the text that can be read now; null if there is none. `isStill`: the file has been unchanged for
 * long, so that a last line without a line break, and an empty file, count as complete.
 */
export function wholeTextOf(text: string, { shape }: Pick<Description, 'shape'>, isStill: boolean): WholeText | null {
  if (shape === 'json') return isJson(text) ? { text, isWhole: true } : null;
  if (shape === 'xml') {
    const root = /<([\w:-]+)[\s>]/.exec(text)?.[1];
    return root !== undefined && text.trimEnd().endsWith(`</${root}>`) ? { text, isWhole: true } : null;
  }
  if (text === '') return isStill ? { text, isWhole: true } : null;
  if (text.endsWith('\n') || isStill) return { text, isWhole: true };
  return { text: text.slice(0, text.lastIndexOf('\n') + 1), isWhole: false };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
