/** The terminal of the commands `ptf` and `ptf-peer`. */
import { once } from 'node:events';
import { clearLine, cursorTo } from 'node:readline';
import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Command, CommanderError } from 'commander';

/** Progress of long work, on a line of its own that disappears when the work is done. */
export interface Progress {
  to(done: number, total: number): void;
  end(): void;
}

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Characters per line; Infinity if the output is no terminal. */
  readonly width: number;
  /** Shows the progress of `what`; shows nothing if standard error is no terminal. */
  progress(what: string): Progress;
  /** Asks the user for a secret, which is not echoed; null if there is no terminal. */
  readonly askSecret: ((question: string) => Promise<string>) | null;
}

type Streams = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;

export function terminalOf(streams: Streams): Terminal {
  const { stdin, stdout, stderr } = streams;
  return {
    out: (text) => stdout.write(text),
    err: (text) => stderr.write(text),
    width: terminalWidth(stdout),
    progress: (what) => (stderr.isTTY ? drawnProgress(stderr, what) : { to: () => {}, end: () => {} }),
    askSecret: stdin.isTTY ? (question) => askSecret(streams, question) : null,
  };
}

/** Lets the process end with 1, and says so with `advice`, if its output cannot be written. */
export function reportLostOutput(running: NodeJS.Process, name: string, advice = ''): void {
  running.stdout.once('error', (error: NodeJS.ErrnoException) => {
    // The reader of the output, such as `head`, has closed the stream.
    if (error.code === 'EPIPE') return;
    running.on('exit', () => {
      running.exitCode = 1;
    });
    running.stderr.write(`${name}: the output could not be written: ${error.message}${advice} (output_failed)\n`);
  });
  // Later errors say nothing new, and without standard error there is no terminal left to print to.
  for (const stream of [running.stdout, running.stderr]) stream.on('error', () => undefined);
}

const helpWidthMax = 100;

/** Commands that are added to `program` afterwards write there, too. */
export function writesTo(terminal: Pick<Terminal, 'out' | 'err' | 'width'>, program: Command): Command {
  const helpWidth = () => Math.min(terminal.width, helpWidthMax);
  return program
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      // Errors are printed once, in the form of every other error.
      outputError: () => {},
      getOutHelpWidth: helpWidth,
      getErrHelpWidth: helpWidth,
    })
    .exitOverride();
}

/** Returns commander's refusal as one line; `missing` if it only printed the help because a command is missing. */
export function usageText(error: CommanderError, missing: string): string {
  // Commander puts suggestions on a line of their own.
  const own = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
  return `${(error.code === 'commander.help' ? missing : own).replace(/\.$/, '')}; see --help`;
}

/** Returns the words of a command line that may be options: none behind `--` is one. */
export function optionsOf(args: readonly string[]): readonly string[] {
  return args.slice(0, [...args, '--'].indexOf('--'));
}

const redrawMs = 100;
const barLength = 24;

/** Drawn here, because a library for it would double the packages that a game server installs. */
function drawnProgress(stderr: Streams['stderr'], what: string): Progress {
  let drawnAt = Number.NEGATIVE_INFINITY;
  const goBack = () => {
    cursorTo(stderr, 0);
    clearLine(stderr, 1);
  };
  return {
    to(done, total) {
      const now = performance.now();
      if (now - drawnAt < redrawMs && done < total) return;
      drawnAt = now;
      // A log may grow while it is read.
      const part = total === 0 ? 1 : Math.min(1, done / total);
      const full = Math.round(part * barLength);
      const bar = '#'.repeat(full) + '-'.repeat(barLength - full);
      goBack();
      stderr.write(`${what} [${bar}] ${Math.floor(part * 100)}%, ${done} of ${total}`);
    },
    end: goBack,
  };
}

/** Infinite for a file, a pipe, and a terminal of 0 columns, such as a container's without a set size. */
function terminalWidth({ isTTY, columns }: { readonly isTTY: boolean; readonly columns: number }): number {
  return isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

/** The end of the input gives an empty line; whether `question` then rejects depends on the release of Node. */
export async function lineFrom(lines: Interface, prompt: string): Promise<string> {
  const ended = once(lines, 'close').then(() => '');
  return Promise.race([lines.question(prompt).catch(() => ''), ended]).finally(() => lines.close());
}

/** Reads a typed line without an echo; empty if the input ends. */
async function askSecret({ stdin, stderr }: Streams, question: string): Promise<string> {
  stderr.write(`${question}: `);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const answer = await lineFrom(createInterface({ input: stdin, output: nowhere, terminal: true }), '');
  stderr.write('\n');
  return answer;
}
