/**
 * Runs a server in its own process on the server's core, with the probe loaded. The server gets a free port, which is
 * read from the line `{"msg":"listening","port":N}` of its log. Ends with the bench.
 */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Child } from './child.js';
import { atEnd } from './ending.js';
import { oneCoreOptions, onServerCore } from './machine.js';
import type { LoopSample } from './target.js';
import { until } from './until.js';

const startPatience = { timeoutMs: 600_000, everyMs: 5 };
const lastLinesMax = 20;
const probe = new URL('./probe.js', import.meta.url).href;

let profiling: readonly string[] = [];

/** Makes every Node server that starts from now on write a CPU profile into the folder when it ends. */
export function profileInto(folder: string): void {
  profiling = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

export interface ServerCommand {
  readonly script: string;
  readonly args?: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file through which the server joins a control group that bounds its memory. */
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
  #child: Child | undefined;

  /** `onFall` is called if the process ends by itself after its start, with its exit and its last lines. */
  constructor(command: ServerCommand, onFall = reportExit) {
    this.#command = command;
    this.#onFall = onFall;
  }

  /** Undefined while the process does not run. */
  get pid(): number | undefined {
    return this.#child?.child.pid;
  }

  /** Starts the process. Resolves to the port once the server logs that it listens. */
  async start(): Promise<number> {
    const { script, args = [], cwd, env, memoryGroup, isElsewhere = false } = this.#command;
    const server = [process.execPath, ...oneCoreOptions(), ...profiling, '--import', probe, script, ...args];
    const [first, ...rest] = isElsewhere ? ['nice', '-n', '19', ...server] : server;
    const node = onServerCore(first!, rest);
    const [command, all] = memoryGroup === undefined ? node : inGroup(memoryGroup, ...node);
    const variables = { PATH: process.env.PATH, ...env, BENCH_PROBE_PARENT: String(process.pid) };
    const child = new Child(command, all, { cwd, env: variables, hasChannel: true });
    this.#child = child;
    createInterface({ input: child.child.stdio[3] as NodeJS.ReadableStream }).on('line', (line) => {
      this.loopSamples.push(JSON.parse(line) as LoopSample);
    });
    const textOf = (what: string): string => [`the server ${what}`, ...child.lastLines(lastLinesMax)].join('\n');
    try {
      const isListening = () => portIn(child.output) ?? !child.isUp;
      const port = await until(isListening, startPatience, () => textOf('was not listening in time'));
      if (port === true) throw new Error(textOf(`ended with ${await child.ended} before it listened`));
      // A deliberate end has cleared `#child` before.
      void child.ended.then((exit) => {
        if (this.#child === child) this.#onFall(textOf(`${script} on port ${port} ended by itself with ${exit}`));
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
    await child?.end(signal);
  }
}

function portIn(output: string): number | undefined {
  const line = /^\{.*"msg":"listening".*\}$/m.exec(output)?.[0];
  return line === undefined ? undefined : (JSON.parse(line) as { port: number }).port;
}

/**
 * Returns a command by which the shell joins the group and then becomes the server, so that every page of the server
 * counts in the group.
 */
function inGroup(group: string, command: string, args: readonly string[]): [command: string, args: string[]] {
  return ['sh', ['-c', 'echo $$ > "$0" && exec "$@"', group, command, ...args]];
}

/** Roots of version 1 and version 2 of control groups, and the file with the bound. */
const hierarchies = [
  { root: '/sys/fs/cgroup/memory', bound: 'memory.limit_in_bytes' },
  { root: '/sys/fs/cgroup', bound: 'memory.max' },
] as const;

/**
 * Returns the file to which a process writes its id to join the new group. Null if the system has no control groups, or
 * does not let this process create one. The group is removed when the bench ends.
 */
export function makeMemoryGroup(bytes: number): string | null {
  for (const { root, bound } of hierarchies) {
    const folder = join(root, `ptf-bench-${process.pid}`);
    try {
      mkdirSync(folder);
    } catch {
      continue;
    }
    const remove = (): void => rmdirSync(folder);
    if (existsSync(join(folder, bound))) {
      writeFileSync(join(folder, bound), String(bytes));
      atEnd(remove);
      return join(folder, 'cgroup.procs');
    }
    remove();
  }
  return null;
}
