/** Asks a terminal, for the commands `ptf` and `ptf-peer`. */
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Infinite for a file, a pipe, and a terminal of 0 columns, such as a container's without a set size. */
export function terminalWidth({ isTTY, columns }: { readonly isTTY: boolean; readonly columns: number }): number {
  return isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

/** The end of the input gives an empty line; whether `question` then rejects depends on the release of Node. */
export async function lineFrom(lines: Interface, prompt: string): Promise<string> {
  const ended = once(lines, 'close').then(() => '');
  const asked = lines.question(prompt).catch(() => '');
  const line = await Promise.race([asked, ended]);
  lines.close();
  return line;
}

/** Reads a typed line without an echo; empty if the input ends. */
export async function askSecret(
  { stdin, stderr }: Pick<NodeJS.Process, 'stdin' | 'stderr'>,
  question: string,
): Promise<string> {
  stderr.write(`${question}: `);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const answer = await lineFrom(createInterface({ input: stdin, output: nowhere, terminal: true }), '');
  stderr.write('\n');
  return answer;
}
