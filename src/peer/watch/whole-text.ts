/** Which part of a list is certainly written to its end: nothing is ever read from half a line or half a document. */

/** Formats whose file is one JSON document. */
const documents: readonly string[] = ['minecraft', 'txadmin', 'tf2bd', 'battlemetrics'];

export interface WholeText {
  readonly text: string;
  /** Whether all of the file is in it, so that what is missing from it is missing from the list. */
  readonly isWhole: boolean;
}

/**
 * The part of the text that can be read now; null where there is none. `isStill`: the file has not changed for long, so
 * that a last line without a line break, and an empty file, are meant as they are.
 */
export function wholeTextOf(text: string, format: string, isStill: boolean): WholeText | null {
  if (documents.includes(format)) return isJson(text) ? { text, isWhole: true } : null;
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
