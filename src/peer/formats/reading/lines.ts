/** Splits a list into trimmed lines. */
import { bounds } from '../../../client/bounds.js';
import type { RowSink } from '../list-row.js';

export const cellTooLong = `a value is longer than ${bounds.listCell} characters`;

/**
 * Passes each line with its number; `isEnded` is false for a last line that may be truncated. Refuses a line so long
 * that a regular expression could overflow its stack.
 */
export function eachLine(
  text: string,
  sink: Pick<RowSink, 'refuse'>,
  take: (line: string, number: number, isEnded: boolean) => void,
): void {
  let number = 0;
  for (let start = 0; start < text.length; ) {
    const at = text.indexOf('\n', start);
    const end = at < 0 ? text.length : at;
    number++;
    if (end - start > bounds.listCell) sink.refuse(number, `the line is longer than ${bounds.listCell} characters`);
    else take(text.slice(start, end).trim(), number, at >= 0);
    start = end + 1;
  }
}
