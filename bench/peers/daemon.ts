/** Runs a daemon of another project in its own temporary folder, on the server's core. Ends with the bench. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { onServerCore } from '../cores.js';
import { atEnd, pause, temporaryFolder } from '../ending.js';
import { isRunning } from '../process-stats.js';
import { endProcess } from '../server-process.js';

const startTimeoutMs = 30_000;
const logLengthMax = 4_000;
const lastLinesMax = 5;
/** At an immediate shutdown PostgreSQL waits 5 s for its processes and then kills them. */
const endTimeoutMs = 6_000;
const endPollMs = 10;

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Signals that end a daemon: `calmly` as its operator would; `atOnce` immediately, while it still frees system
 * resources.
 */
export interface EndSignals {
  readonly calmly: NodeJS.Signals;
  readonly atOnce: NodeJS.Signals;
}

export class Daemon {
  readonly #folder = temporaryFolder('ptf-bench-peer-');
  readonly #signals: EndSignals;
  #child: ChildProcess | undefined;
  #forget: () => void = () => undefined;
  #log = '';

  constructor(signals: EndSignals = { calmly: 'SIGTERM', atOnce: 'SIGKILL' }) {
    this.#signals = signals;
  }

  /** Returns the result of `start` with a new daemon. Stops the daemon if `start` fails. */
  static async use<T>(start: (daemon: Daemon) => Promise<T>, signals?: EndSignals): Promise<T> {
    const daemon = new Daemon(signals);
    try {
      return await start(daemon);
    } catch (error) {
      await daemon.stop();
      throw error;
    }
  }

  get dir(): string {
    return this.#folder.path;
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** Gives the folder to the account of the daemon. */
  give({ uid, gid }: Account): void {
    chownSync(this.dir, uid, gid);
  }

  /** Starts the daemon and waits until `isReady`. Rejects with the last lines of its output. */
  async start(
    command: string,
    args: readonly string[],
    isReady: () => Promise<boolean> | boolean,
    account?: Account,
  ): Promise<void> {
    const [first, rest] = onServerCore(command, args);
    const child = spawn(first, rest, { cwd: this.dir, stdio: ['ignore', 'pipe', 'pipe'], ...account });
    this.#child = child;
    this.#forget = atEnd(() => this.#endNow(child));
    child.once('error', (error) => this.#append(error.message));
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => this.#append(chunk.toString()));
    }
    const giveUpMs = performance.now() + startTimeoutMs;
    while (!(await isReady())) {
      const isGone = child.exitCode !== null || child.signalCode !== null;
      if (isGone || performance.now() > giveUpMs) {
        const lines = this.#log.trim().split('\n').slice(-lastLinesMax);
        throw new Error([`${command} did not start`, ...lines].join('\n'));
      }
      await delay(50);
    }
  }

  async stop(): Promise<void> {
    try {
      if (this.#child !== undefined) await endProcess(this.#child, this.#signals.calmly);
    } finally {
      this.#forget();
      this.#folder.remove();
    }
  }

  /** Ends the daemon synchronously, for the exit handler. */
  #endNow(child: ChildProcess): void {
    child.kill(this.#signals.atOnce);
    const giveUpMs = performance.now() + endTimeoutMs;
    while (isRunning(child.pid) && performance.now() < giveUpMs) pause(endPollMs);
    child.kill('SIGKILL');
  }

  #append(text: string): void {
    this.#log = (this.#log + text).slice(-logLengthMax);
  }
}

/** Runs a command to its end. Returns its output, or throws an error that contains it. */
export function runTool(command: string, args: readonly string[], account?: Account): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', ...account });
  if (error !== undefined || status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`);
  return stdout;
}

export function firstOf(paths: readonly string[]): string | undefined {
  return paths.find((path) => existsSync(path));
}
