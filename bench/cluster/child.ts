/** A child process that can be paused, resumed and killed. It never outlives the process that started it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { atEnd } from '../ending.js';

/** The last characters of the output that are retained. */
const outputCharsMax = 200_000;

export class Child {
  readonly child: ChildProcess;
  /** Resolves with the exit code or the signal's name; null if the process could not be started. */
  readonly ended: Promise<number | string | null>;
  #output = '';
  #paused = false;
  #wasKilled = false;

  /** `detached`: signals of the terminal do not reach the process. */
  constructor(
    command: string,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    cwd: string,
    detached = false,
  ) {
    const child = spawn(command, args, {
      cwd,
      detached,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    const forget = atEnd(() => child.kill('SIGKILL'));
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-outputCharsMax);
      });
    }
    child.on('error', (error) => {
      this.#output += `\n${error.message}`;
    });
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

  /** Whether `kill` was called. */
  get wasKilled(): boolean {
    return this.#wasKilled;
  }

  get isPaused(): boolean {
    return this.#paused;
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
}
