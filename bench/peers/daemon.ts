/** A daemon of another project, in a temporary folder of its own, on the server's core; ended with the bench. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { onServerCore } from '../cores.js';
import { endProcess } from '../server-process.js';

const startTimeoutMs = 30_000;
const logKept = 4_000;

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export class Daemon {
  readonly dir = mkdtempSync(join(tmpdir(), 'ptf-bench-peer-'));
  #child: ChildProcess | undefined;
  #log = '';
  readonly #clear = (): void => {
    this.#child?.kill('SIGKILL');
    rmSync(this.dir, { recursive: true, force: true });
  };

  constructor() {
    process.once('exit', this.#clear);
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** Gives the folder to the account under which the daemon runs. */
  give({ uid, gid }: Account): void {
    chownSync(this.dir, uid, gid);
  }

  /** Starts it, and waits until `isReady`. */
  async start(
    command: string,
    args: readonly string[],
    isReady: () => Promise<boolean> | boolean,
    account?: Account,
  ): Promise<void> {
    const [first, rest] = onServerCore(command, args);
    const child = spawn(first, rest, { cwd: this.dir, stdio: ['ignore', 'pipe', 'pipe'], ...account });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.#log = (this.#log + chunk.toString()).slice(-logKept);
      });
    }
    const giveUpMs = performance.now() + startTimeoutMs;
    while (!(await isReady())) {
      const isGone = child.exitCode !== null || child.signalCode !== null;
      if (isGone || performance.now() > giveUpMs) {
        await this.stop('SIGKILL');
        throw new Error(`${command} did not start:\n${this.#log}`);
      }
      await delay(50);
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    process.off('exit', this.#clear);
    try {
      if (this.#child !== undefined) await endProcess(this.#child, signal);
    } finally {
      rmSync(this.dir, { recursive: true, force: true });
    }
  }
}

/** Runs a command to its end; its output, or an error that holds it. */
export function runTool(command: string, args: readonly string[], account?: Account): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', ...account });
  if (error !== undefined || status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`);
  return stdout;
}

/** The first of these paths that is there. */
export function firstOf(paths: readonly string[]): string | undefined {
  return paths.find((path) => existsSync(path));
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}
