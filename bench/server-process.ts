/**
 * Runs a server in its own process on the server's core, with the probe loaded. The server gets a free port, which is
 * read from the line `{"msg":"listening","port":N}` of its log. Ends with the bench.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { oneCoreOptions, onServerCore } from './cores.js';
import { atEnd } from './ending.js';
import { withDescendants } from './process-stats.js';
import type { LoopSample } from './target.js';

const startTimeoutMs = 600_000;
/** A node has 10 s to end by SIGTERM. The rest allows for a slow machine. */
const stopTimeoutMs = 15_000;
const lastLinesMax = 20;
const probe = new URL('./probe.js', import.meta.url).href;

let profiling: readonly string[] = [];

/** Makes every Node server that starts from now on write a CPU profile into the folder when it ends. */
export function profileInto(folder: string): void {
  profiling = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

export interface ServerCommand {
  /** A script for Node, with its arguments. */
  readonly script: string;
  readonly args?: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file through which the server joins a control group that bounds its memory (`memory-group.ts`). */
  readonly memoryGroup?: string | undefined;
  /** Set for a server that would run on another machine: it only gets processor time that the others leave. */
  readonly isElsewhere?: boolean | undefined;
}

/** Reports at once, because later requests would only fail with a refused connection. */
function reportExit(text: string): void {
  console.error(`bench: ${text}`);
  process.exitCode = 1;
}

export class ServerProcess {
  /** Samples since the start, oldest first. */
  readonly loopSamples: LoopSample[] = [];
  readonly #command: ServerCommand;
  readonly #onFall: (text: string) => void;
  /** Last lines of its output. */
  readonly #lastLines: string[] = [];
  #child: ChildProcess | undefined;
  #forget: () => void = () => undefined;

  /** `onFall` is called if the process ends by itself after its start, with its exit and its last lines. */
  constructor(command: ServerCommand, onFall = reportExit) {
    this.#command = command;
    this.#onFall = onFall;
  }

  /** Undefined while the process does not run. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts the process. Resolves to the port once the server logs that it listens. */
  async start(): Promise<number> {
    const { script, args = [], cwd, env, memoryGroup, isElsewhere = false } = this.#command;
    const options = [...oneCoreOptions(), ...profiling, '--import', probe];
    const server = [process.execPath, ...options, script, ...args];
    const [first, ...rest] = isElsewhere ? ['nice', '-n', '19', ...server] : server;
    const node = onServerCore(first!, rest);
    const [command, all] = memoryGroup === undefined ? node : inGroup(memoryGroup, ...node);
    const child = spawn(command, all, {
      cwd,
      env: { PATH: process.env.PATH, ...env, BENCH_PROBE_PARENT: String(process.pid) },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#forget = atEnd(() => killWithDescendants(child));
    createInterface({ input: child.stdio[3] as NodeJS.ReadableStream }).on('line', (line) => {
      this.loopSamples.push(JSON.parse(line) as LoopSample);
    });
    try {
      const port = await listeningPort(child, this.#lastLines);
      // At `close`, all output has been read.
      child.once('close', (code, signal) => {
        // A deliberate end has cleared `#child` before.
        if (this.#child !== child) return;
        this.#forget();
        const fall = `the server ${script} on port ${port} ended by itself with ${code ?? signal}`;
        this.#onFall([fall, ...this.#lastLines].join('\n'));
      });
      return port;
    } catch (error) {
      await this.end('SIGKILL');
      throw error;
    }
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    // The process may end slowly. Until then it must be killed if the bench ends.
    await endProcess(child, signal);
    this.#forget();
  }
}

/** Ends a process that the bench started. Kills a process that does not end in time, and rejects. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  const patience = new AbortController();
  const late = delay(stopTimeoutMs, 'late', { signal: patience.signal }).catch(() => 'ended');
  if ((await Promise.race([exited, late])) === 'late') {
    child.kill('SIGKILL');
    throw new Error(`${child.spawnfile} did not end within ${stopTimeoutMs} ms of ${signal}`);
  }
  patience.abort();
}

/** Kills the process with its children, for the exit handler. A starting node has a child that reads its folder. */
function killWithDescendants({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  for (const one of withDescendants([pid])) {
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // The process ended by itself.
    }
  }
}

/**
 * Resolves to the port in the log line `listening`. Rejects if the process ends or does not log the line in time. Fills
 * `last` with the last lines of the log.
 */
function listeningPort(child: ChildProcess, last: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (what: string): void => {
      clearTimeout(timer);
      reject(new Error([`the server ${what}`, ...last].join('\n')));
    };
    const timer = setTimeout(() => fail(`was not listening after ${startTimeoutMs} ms`), startTimeoutMs);
    child.once('exit', (code, signal) => fail(`ended with ${code ?? signal} before it listened`));
    child.once('error', (error) => fail(`could not be started: ${error.message}`));
    for (const stream of [child.stdout!, child.stderr!]) {
      // The reader stays for the life of the process: a full pipe would block the process.
      createInterface({ input: stream }).on('line', (line) => {
        if (last.push(line) > lastLinesMax) last.shift();
        const port = portOf(line);
        if (port === undefined) return;
        clearTimeout(timer);
        resolve(port);
      });
    }
  });
}

function portOf(line: string): number | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const entry = JSON.parse(line) as { msg?: unknown; port?: unknown };
    return entry.msg === 'listening' && typeof entry.port === 'number' ? entry.port : undefined;
  } catch {
    // A line that is not JSON is another log line.
    return undefined;
  }
}

/**
 * Returns a command by which the shell joins the group and then becomes the server, so that every page of the server
 * counts in the group.
 */
function inGroup(group: string, command: string, args: readonly string[]): [command: string, args: string[]] {
  return ['sh', ['-c', 'echo $$ > "$0" && exec "$@"', group, command, ...args]];
}
