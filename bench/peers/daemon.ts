/** Runs a daemon of another project in its own temporary folder, on the server's core. Ends with the bench. */
import { spawnSync } from 'node:child_process';
import { chownSync } from 'node:fs';
import { type Account, Child } from '../child.js';
import { temporaryFolder } from '../ending.js';
import { onServerCore } from '../machine.js';
import { until } from '../until.js';

const startPatience = { timeoutMs: 30_000 };
const lastLinesMax = 5;

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
  #child: Child | undefined;

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
    return this.#child!.child.pid!;
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
    const child = new Child(...onServerCore(command, args), {
      cwd: this.dir,
      account,
      endSignal: this.#signals.atOnce,
    });
    this.#child = child;
    const failure = () => [`${command} did not start`, ...child.lastLines(lastLinesMax)].join('\n');
    const isOver = async () => (await isReady()) || !child.isUp;
    await until(isOver, startPatience, failure);
    if (!child.isUp) {
      await child.ended;
      throw new Error(failure());
    }
  }

  async stop(): Promise<void> {
    try {
      await this.#child?.end(this.#signals.calmly);
    } finally {
      this.#folder.remove();
    }
  }
}

/** Returns whether the machine has these programs. */
export function areInstalled(...programs: readonly string[]): boolean {
  return programs.every((program) => spawnSync(program, ['--help']).error === undefined);
}

/** Runs a command to its end. Returns its output, or throws an error that contains it. */
export function runTool(command: string, args: readonly string[], account?: Account): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', ...account });
  if (error !== undefined || status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`);
  return stdout;
}
