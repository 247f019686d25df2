/** A child process that can be paused, resumed and ended. It never outlives the process that started it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { atEnd, pause } from './ending.js';
import { isRunning, withDescendants } from './process-stats.js';

/** The last characters of the output that are retained. */
const outputCharsMax = 200_000;
/** A node has 10 s to end by SIGTERM. The rest allows for a slow machine. */
const endTimeoutMs = 15_000;
/** At an immediate shutdown PostgreSQL waits 5 s for its processes and then kills them. */
const endNowTimeoutMs = 6_000;
const endPollMs = 10;

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export interface ChildOptions {
  readonly cwd: string;
  /** Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Signals of the terminal do not reach the process. */
  readonly detached?: boolean;
  readonly account?: Account | undefined;
  /** Gives the process a pipe as file descriptor 3. */
  readonly hasChannel?: boolean;
  /** Ends the process immediately, while it still frees system resources. Default: it is killed. */
  readonly endSignal?: NodeJS.Signals;
}

export class Child {
  readonly child: ChildProcess;
  /** Resolves with the exit code or the signal's name; null if the process could not be started. */
  readonly ended: Promise<number | string | null>;
  #output = '';
  #paused = false;
  #wasKilled = false;

  constructor(command: string, args: readonly string[], options: ChildOptions) {
    const { cwd, env = process.env, detached = false, account, hasChannel, endSignal } = options;
    const stdio: ('ignore' | 'pipe')[] = ['ignore', 'pipe', 'pipe', ...(hasChannel ? ['pipe' as const] : [])];
    const child = spawn(command, args, { cwd, env, detached, stdio, ...account });
    this.child = child;
    const forget = atEnd(() => endNow(child, endSignal));
    for (const stream of [child.stdout!, child.stderr!]) {
      // The reader stays for the life of the process: a full pipe would block the process.
      stream.setEncoding('utf8').on('data', (text: string) => this.#append(text));
    }
    child.on('error', (error) => this.#append(`\n${error.message}`));
    // At `close`, all output has been read.
    this.ended = once(child, 'close').then(
      () => child.exitCode ?? child.signalCode,
      () => null,
    );
    void this.ended.then(forget);
  }

  get output(): string {
    return this.#output;
  }

  get isUp(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null && this.child.pid !== undefined;
  }

  get wasKilled(): boolean {
    return this.#wasKilled;
  }

  get isPaused(): boolean {
    return this.#paused;
  }

  lastLines(count: number): string[] {
    return this.#output.trim().split('\n').slice(-count);
  }

  /** Sends SIGSTOP: the process hangs, and its connections stay open. */
  pause(): void {
    this.#paused = true;
    this.child.kill('SIGSTOP');
  }

  resume(): void {
    this.#paused = false;
    this.child.kill('SIGCONT');
  }

  /** Sends the signal. Resolves once the process has ended. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | string | null> {
    this.#wasKilled = true;
    if (this.isUp) {
      this.child.kill(signal);
      // A paused process handles no signal but SIGKILL.
      if (this.#paused) this.resume();
    }
    return this.ended;
  }

  /** Like `kill`. Kills a process that does not end in time, and rejects. */
  async end(signal: NodeJS.Signals): Promise<void> {
    if (!this.isUp) return;
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      this.child.kill('SIGKILL');
    }, endTimeoutMs);
    const exited = once(this.child, 'exit');
    void this.kill(signal);
    await exited;
    clearTimeout(late);
    if (isLate) throw new Error(`${this.child.spawnfile} did not end within ${endTimeoutMs} ms of ${signal}`);
  }

  #append(text: string): void {
    this.#output = (this.#output + text).slice(-outputCharsMax);
  }
}

/**
 * Ends the process synchronously, for the exit handler. A process that is killed takes its children with it: a starting
 * node has a child that reads its folder.
 */
function endNow(child: ChildProcess, signal: NodeJS.Signals | undefined): void {
  if (child.pid === undefined) return;
  if (signal !== undefined) {
    child.kill(signal);
    const giveUpMs = performance.now() + endNowTimeoutMs;
    while (isRunning(child.pid) && performance.now() < giveUpMs) pause(endPollMs);
  }
  for (const pid of withDescendants([child.pid])) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process ended by itself.
    }
  }
}
