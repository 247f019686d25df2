/** What a traced process asked of the system, in order: reads the output of `strace -f -yy -xx`. */
import { spawnSync } from 'node:child_process';

/** One call that ended well. `begin` and `end` are places in the order of the trace. */
export interface TracedCall {
  readonly name: string;
  readonly begin: number;
  readonly end: number;
  /** Of the descriptor that it is about, or that it returned; -1 where it is about none. */
  readonly fd: number;
  /** What that descriptor is: a path, or what a socket is connected to. */
  readonly of: string;
  /** Its arguments as strace writes them. */
  readonly args: string;
  readonly result: number;
}

/** Whether strace is here, and may trace. */
export function canTrace(): boolean {
  return spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;
}

/**
 * In front of a command: traces these calls, with all bytes that they write, into the file `output`. Each of `slow`
 * takes 3 ms longer, so that who does not wait for it is seen.
 */
export function tracing(calls: readonly string[], slow: readonly string[], output: string): string[] {
  const options = ['-f', '-yy', '-xx', '-v', '-s', '1000000', '-o', output];
  return ['strace', ...options, '-e', `trace=${calls}`, '-e', `inject=${slow}:delay_enter=3000`];
}

const whole = /^(\w+)\((.*)\) += (\d+)(?:<(.*)>)?(?: \(DELAYED\))?$/;
const descriptor = /^(\d+)<(.*?)>(?:,|$)/;
const cut = ' <unfinished ...>';
const goesOn = /^<\.\.\. \w+ resumed>(.*)$/;

/** Calls that failed, or that the end of the process cut off, are left out. */
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

/** Bytes as `-xx` writes them. */
export function escaped(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex').replace(/../g, '\\x$&');
}

function unescaped(text: string): string {
  return text.replace(/\\x(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
