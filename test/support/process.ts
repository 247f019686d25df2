/** A node in its own process, for tests that kill it, expect a refused start, or hold a lock. Runs `dist/main.js`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasCode } from '../../src/errors.js';
import { until } from './until.js';

export const mainEntry = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

export interface NodeProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** Resolves with the exit code or the signal's name. */
  readonly ended: Promise<number | string | null>;
  output(): string;
  /** Returns the output since the last call, because the whole output becomes too long to be read repeatedly. */
  takeUnread(): string;
  kill(signal: NodeJS.Signals): Promise<number | string | null>;
}

const folders: string[] = [];

/** Returns a new folder, which is removed when the test process ends. */
export function temporaryFolder(): string {
  if (folders.length === 0) {
    process.once('exit', () => {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    });
  }
  const folder = mkdtempSync(join(tmpdir(), 'ptf-process-'));
  folders.push(folder);
  return folder;
}

/** The node refused to start. Contains its exit code and output. */
export class NotStarted extends Error {
  readonly exit: number | string | null;
  readonly output: string;

  constructor(exit: number | string | null, output: string) {
    super(`the node ended with ${exit}: ${output}`);
    this.exit = exit;
    this.output = output;
  }
}

const running = new Set<ChildProcess>();

/** Kills the processes that a failed test left behind. Call it after the last test. */
export function endAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Starts a node and resolves once it listens. Rejects with `NotStarted` if it ends before. */
export async function startProcess(env: Record<string, string>, wrapper: readonly string[] = []): Promise<NodeProcess> {
  const [command = process.execPath, ...before] = wrapper;
  const args = wrapper.length === 0 ? [mainEntry] : [...before, process.execPath, mainEntry];
  const child = spawn(command, args, {
    cwd: env.DATA_DIR,
    env: { PATH: process.env.PATH, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let unread = '';
  running.add(child);
  const ended = once(child, 'close').then(() => {
    running.delete(child);
    return child.exitCode ?? child.signalCode;
  });
  const { port, pid } = await new Promise<{ port: number; pid: number }>((resolve, reject) => {
    let listens = false;
    const take = (text: string) => {
      output += text;
      unread += text;
      if (listens) return;
      const line = output.split('\n').find((candidate) => candidate.includes('"msg":"listening"'));
      if (line === undefined) return;
      listens = true;
      resolve(JSON.parse(line) as { port: number; pid: number });
    };
    child.stdout!.setEncoding('utf8').on('data', take);
    child.stderr!.setEncoding('utf8').on('data', take);
    void ended.then((exit) => reject(new NotStarted(exit, output)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    child,
    ended,
    output: () => output,
    takeUnread() {
      const text = unread;
      unread = '';
      return text;
    },
    async kill(signal) {
      try {
        // Signal the node itself, even under a wrapper.
        process.kill(pid, signal);
      } catch (error) {
        // It has ended by itself, and `ended` says how.
        if (!hasCode(error, 'ESRCH')) throw error;
      }
      return ended;
    },
  };
}

/**
 * Resolves once a node with events has computed weights, and so has loaded its replica. The replica is a thread of the
 * lowest priority: on a busy machine its loading alone may exceed the time for a last snapshot at a shutdown.
 */
export function replicaLoaded({ url }: NodeProcess): Promise<void> {
  return until(async () => {
    const health = await (await fetch(`${url}/api/v1/health`)).json();
    return ((health as { weights?: { computed_at: string | null } }).weights?.computed_at ?? null) !== null;
  });
}
