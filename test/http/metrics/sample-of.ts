/** Reads figures of Prometheus text. */

/** The value of the line that begins with a name and its labels, undefined where there is none. */
export function sampleOf(text: string, line: string): number | undefined {
  const found = text.split('\n').find((one) => one.startsWith(`${line} `));
  return found === undefined ? undefined : Number(found.slice(line.length + 1));
}
