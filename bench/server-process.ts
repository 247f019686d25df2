/**
 * A server in a process of its own, on the server's core, with the probe loaded: started on a free port, found by the
 * line `{"msg":"listening","port":N}` of its log, ended with the bench.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { oneCoreOptions, onServerCore } from './cores.js';
import { atEnd } from './ending.js';
import { withDescendants } from './process-stats.js';
import type { LoopSample } from './target.js';

const startTimeoutMs = 600_000;
/** A node has 10 s to end by SIGTERM; a little more for the machine. */
const stopTimeoutMs = 15_000;
const lastLinesKept = 20;
const probe = new URL('./probe.js', import.meta.url).href;

let profiling: readonly string[] = [];

/** Every Node server started from here on writes a CPU profile into the folder when it ends. */
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
}

/** Told at once: whoever asks the server something meanwhile only learns that nobody listens. */
function tellFall(text: string): void {
  console.error(`bench: ${text}`);
  process.exitCode = 1;
}

export class ServerProcess {
  /** Since the start, oldest first. */
  readonly loopSamples: LoopSample[] = [];
  readonly #command: ServerCommand;
  readonly #onFall: (text: string) => void;
  /** Of what it wrote. */
  readonly #lastLines: string[] = [];
  #child: ChildProcess | undefined;
  #forget: () => void = () => undefined;

  /** `onFall` is called where it ends by itself after its start, with how it did and its last lines. */
  constructor(command: ServerCommand, onFall = tellFall) {
    this.#command = command;
    this.#onFall = onFall;
  }

  /** Undefined while it does not run. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves to the port once the server says that it listens. */
  async start(): Promise<number> {
    const { script, args = [], cwd, env, memoryGroup } = this.#command;
    const options = [...oneCoreOptions(), ...profiling, '--import', probe];
    const node = onServerCore(process.execPath, [...options, script, ...args]);
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
      // Once all that it wrote is read.
      child.once('close', (code, signal) => {
        // Whoever ends it has taken it back before.
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
    // It may take its time, and until it is gone it is still to be killed when the bench ends.
    await endProcess(child, signal);
    this.#forget();
  }
}

/** Ends a process that the bench started; one that does not end in time is killed, which is an error. */
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

/** While the bench ends. A node that is starting has its folder read by a process of its own. */
function killWithDescendants({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  for (const one of withDescendants([pid])) {
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
}

/**
 * The port in the log line `listening`; an error where the process ends or stays silent instead. `last` holds the
 * last lines of the log.
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
      // The reader stays for the life of the process: a pipe that nobody empties would stop it.
      createInterface({ input: stream }).on('line', (line) => {
        if (last.push(line) > lastLinesKept) last.shift();
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
    // A line that is not JSON is not the line looked for.
    return undefined;
  }
}

/** The shell joins the group and then becomes the command, so that the group holds every page of the server. */
function inGroup(group: string, command: string, args: readonly string[]): [command: string, args: string[]] {
  return ['sh', ['-c', 'echo $$ > "$0" && exec "$@"', group, command, ...args]];
}

/** A port that was free a moment ago, for a server that does not choose one by itself. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}
