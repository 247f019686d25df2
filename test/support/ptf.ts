/** Runs the operator command in its own process, as an operator does. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Ran, type Running, watched } from './child-process.js';

export const ptfEntry = fileURLToPath(new URL('../../src/ptf.js', import.meta.url));

/**
 * Starts a run on the data folder `dir`. Leads a process group, so that all of its processes can be killed together.
 */
export function beginPtf(args: readonly string[], dir: string): Running {
  return watched(
    spawn(process.execPath, [ptfEntry, '--data-dir', dir, ...args], {
      cwd: '/',
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    }),
  );
}

export const runPtf = (args: readonly string[], dir: string): Promise<Ran> => beginPtf(args, dir).ended;
