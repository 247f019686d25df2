/** Child processes of the harness: started, stopped by signals, and never left behind. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

const running = new Set<ChildProcess>();

/** Ends what is left when this process does, whatever ended it. */
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** What a process said last; more is dropped. */
const keptChars = 200_000;

export class Child {
  readonly child: ChildProcess;
  /** Resolves with the exit code or the signal's name. */
  readonly ended: Promise<number | string | null>;
  #output = '';
  #paused = false;
  #wasKilled = false;

  constructor(command: string, args: readonly string[], env: Readonly<Record<string, string>>, cwd: string) {
    const child = spawn(command, args, {
      cwd,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    running.add(child);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-keptChars);
      });
    }
    child.on('error', (error) => {
      this.#output += `\n${error.message}`;
    });
    this.ended = once(child, 'close').then(
      () => child.exitCode ?? child.signalCode,
      () => null,
    );
    void this.ended.then(() => running.delete(child));
  }

  get output(): string {
    return this.#output;
  }

  get isUp(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null && this.child.pid !== undefined;
  }

  /** Whether this harness ended it. */
  get wasKilled(): boolean {
    return this.#wasKilled;
  }

  get isPaused(): boolean {
    return this.#paused;
  }

  /** SIGSTOP: the process hangs, and its connections stay open. */
  pause(): void {
    this.#paused = true;
    this.child.kill('SIGSTOP');
  }

  resume(): void {
    this.#paused = false;
    this.child.kill('SIGCONT');
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | string | null> {
    this.#wasKilled = true;
    if (this.isUp) {
      this.child.kill(signal);
      // A process that stands still takes no other signal but SIGKILL.
      if (this.#paused) this.resume();
    }
    return this.ended;
  }
}
