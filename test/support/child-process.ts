/** Child processes of tests: how they end, and what they write. */
import { type ChildProcess, type ExecFileOptions, execFile } from 'node:child_process';
import { once } from 'node:events';

export interface Ran {
  /** The exit code, or the name of the signal that ended the process. */
  readonly code: number | string | null;
  readonly out: string;
  readonly err: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ran>;
  out(): string;
  err(): string;
}

/** Collects what a process writes from now on. */
export function watched(child: ChildProcess): Running {
  const written = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    written.out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    written.err += text;
  });
  const ended = once(child, 'close').then(() => ({ code: child.exitCode ?? child.signalCode, ...written }));
  return { child, ended, out: () => written.out, err: () => written.err };
}

/** Runs a program until it ends. Its code is -1 if it did not start or a signal ended it. */
export function execute(command: string, args: readonly string[], options: ExecFileOptions = {}): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(command, args, { maxBuffer: 1 << 24, ...options, encoding: 'utf8' }, (error, out, err) => {
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, out, err });
    });
  });
}
