/** Splits a list into trimmed lines. */

/** Passes each line with its number; `isEnded` is false for a last line that may be truncated. */
export function eachLine(text: string, take: (line: string, number: number, isEnded: boolean) => void): void {
  let number = 0;
  for (let start = 0; start < text.length; ) {
    const at = text.indexOf('\n', start);
    const end = at < 0 ? text.length : at;
    take(text.slice(start, end).trim(), ++number, at >= 0);
    start = end + 1;
  }
}
