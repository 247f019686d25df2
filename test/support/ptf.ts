/** Runs the operator command in its own process, as an operator does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export const ptfEntry = fileURLToPath(new URL('../../src/ptf.js', import.meta.url));

export interface PtfRun {
  readonly code: number | string | null;
  readonly out: string;
  readonly err: string;
}

export interface PtfProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<PtfRun>;
}

/**
 * Starts a run on the data folder `dir`. Leads a process group, so that all of its processes can be killed together.
 */
export function beginPtf(args: readonly string[], dir: string): PtfProcess {
  const child = spawn(process.execPath, [ptfEntry, '--data-dir', dir, ...args], {
    cwd: '/',
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const ended = once(child, 'close').then(([code, signal]) => ({ code: code ?? signal, out, err }));
  return { child, ended };
}

export function runPtf(args: readonly string[], dir: string): Promise<PtfRun> {
  return beginPtf(args, dir).ended;
}
