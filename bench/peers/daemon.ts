/** A daemon of another project, in a temporary folder of its own, on the server's core; ended with the bench. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { onServerCore } from '../cores.js';
import { atEnd, pause, temporaryFolder } from '../ending.js';
import { isRunning } from '../process-stats.js';
import { endProcess } from '../server-process.js';

const startTimeoutMs = 30_000;
const logKept = 4_000;
const lastLinesTold = 5;
/** PostgreSQL gives its processes 5 s when it ends at once, and then kills them. */
const endTimeoutMs = 6_000;
const endPollMs = 10;

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** The signals that end a daemon: as its operator would, and at once, but with what it must give back to the system. */
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

  /** What `start` makes of a new daemon, which is stopped where it fails. */
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

  /** Gives the folder to the account under which the daemon runs. */
  give({ uid, gid }: Account): void {
    chownSync(this.dir, uid, gid);
  }

  /** Starts it, and waits until `isReady`; rejects with the last lines that it wrote. */
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
    child.once('error', (error) => this.#tell(error.message));
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => this.#tell(chunk.toString()));
    }
    const giveUpMs = performance.now() + startTimeoutMs;
    while (!(await isReady())) {
      const isGone = child.exitCode !== null || child.signalCode !== null;
      if (isGone || performance.now() > giveUpMs) {
        const lines = this.#log.trim().split('\n').slice(-lastLinesTold);
        throw new Error([`${command} did not start`, ...lines].join('\n'));
      }
      await delay(50);
    }
  }

  /** Ends it, and removes its folder. */
  async stop(): Promise<void> {
    try {
      if (this.#child !== undefined) await endProcess(this.#child, this.#signals.calmly);
    } finally {
      this.#forget();
      this.#folder.remove();
    }
  }

  /** While the bench ends, when nothing can be awaited. */
  #endNow(child: ChildProcess): void {
    child.kill(this.#signals.atOnce);
    const giveUpMs = performance.now() + endTimeoutMs;
    while (isRunning(child.pid) && performance.now() < giveUpMs) pause(endPollMs);
    child.kill('SIGKILL');
  }

  #tell(text: string): void {
    this.#log = (this.#log + text).slice(-logKept);
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
