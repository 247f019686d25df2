/** Reads the system calls of a traced process, in order, from the output of `strace -f -yy -xx`. */
import { spawnSync } from 'node:child_process';

/** One successful call. `begin` and `end` are positions in the trace. */
export interface TracedCall {
  readonly name: string;
  readonly begin: number;
  readonly end: number;
  /** The descriptor that the call uses or returned; -1 if there is none. */
  readonly fd: number;
  /** The path of the descriptor, or the peer of a socket. */
  readonly of: string;
  /** Arguments as strace prints them. */
  readonly args: string;
  readonly result: number;
}

/** Returns whether strace is installed and permitted. */
export const canTrace = (): boolean => spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;

/**
 * Returns the prefix of a command that traces these calls, with all bytes that they write, into the file `output`. Each
 * call of `slow` takes 3 ms longer, so that code that does not wait for it is detected.
 */
export function tracing(calls: readonly string[], slow: readonly string[], output: string): string[] {
  const options = ['-f', '-yy', '-xx', '-v', '-s', '1000000', '-o', output, '-e', `trace=${calls}`];
  return ['strace', ...options, ...(slow.length > 0 ? ['-e', `inject=${slow}:delay_enter=3000`] : [])];
}

const whole = /^(\w+)\((.*)\) += (\d+)(?:<(.*)>)?(?: \(DELAYED\))?$/;
const descriptor = /^(\d+)<(.*?)>(?:,|$)/;
const cut = ' <unfinished ...>';
const goesOn = /^<\.\.\. \w+ resumed>(.*)$/;

/** Leaves out calls that failed, or that the end of the process interrupted. */
export function tracedCalls(trace: string): TracedCall[] {
  const calls: TracedCall[] = [];
  const begun = new Map<string, { readonly begin: number; readonly text: string }>();
  for (const [end, line] of trace.split('\n').entries()) {
    const [, thread = '', said = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (said.endsWith(cut)) {
      begun.set(thread, { begin: end, text: said.slice(0, -cut.length) });
      continue;
    }
    const rest = goesOn.exec(said)?.[1];
    const { begin, text } = rest === undefined ? { begin: end, text: '' } : begun.get(thread)!;
    const found = whole.exec(text + (rest ?? said));
    if (found === null) continue;
    const [, name = '', args = '', result = '', opened] = found;
    const [, fd = opened === undefined ? -1 : result, of = opened ?? ''] = descriptor.exec(args) ?? [];
    calls.push({ name, begin, end, fd: Number(fd), of: unescaped(of), args, result: Number(result) });
  }
  return calls;
}

/** Returns bytes as `-xx` prints them. */
export const escaped = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').replace(/../g, '\\x$&');

/** Returns the paths, or other texts, among the arguments of a call. */
export function pathsIn(args: string): string[] {
  return Array.from(args.matchAll(/"((?:\\x..)*)"/g), ([, text = '']) => unescaped(text));
}

function unescaped(text: string): string {
  return text.replace(/\\x(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
