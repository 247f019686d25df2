/**
 * A node of this service in a process and a temporary folder of its own: started on a free port, found by its log,
 * ended with the bench.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const startTimeoutMs = 60_000;
/** A node has 10 s to end by SIGTERM; a little more for the machine. */
const stopTimeoutMs = 15_000;
const lastLinesKept = 20;

/** Builds what is stale in `dist/`. What the build prints goes to standard error. */
export async function buildNode(): Promise<void> {
  await run('scripts/build.mjs', ['--if-stale'], {});
}

export class OwnNode {
  readonly #dir = mkdtempSync(join(tmpdir(), 'ptf-bench-'));
  readonly #environment: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #port = 0;
  readonly #cleanUp = (): void => {
    this.#child?.kill('SIGKILL');
    rmSync(this.#dir, { recursive: true, force: true });
  };

  /** `environment` comes on top of the node's settings for a bench. Nothing runs before `start`. */
  constructor(environment: Readonly<Record<string, string>> = {}) {
    this.#environment = {
      HOST: '127.0.0.1',
      DATA_DIR: join(this.#dir, 'data'),
      HALF_LIFE_DAYS: '0',
      PEER_AUTH_ENABLED: 'true',
      REGISTRATION_MODE: 'open',
      ...environment,
    };
    process.once('exit', this.#cleanUp);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Resolves once the node listens and is healthy. A later start keeps the port of the first, so that clients find it again. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [join(root, 'dist/main.js')], {
      // A folder of its own, where no .env is read.
      cwd: this.#dir,
      env: { PATH: process.env.PATH, ...this.#environment, PORT: String(this.#port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#port = await listeningPort(child);
    await healthy(this.url);
  }

  /** Kills the process at once, as a power cut would; the folder stays. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Ends the node as an operator would, and removes its folder. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
    process.off('exit', this.#cleanUp);
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** Runs the operator command against this node. */
  async operate(...args: readonly string[]): Promise<void> {
    await run('dist/ptf.js', args, this.#environment);
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    const patience = new AbortController();
    const late = delay(stopTimeoutMs, 'late', { signal: patience.signal }).catch(() => 'ended');
    if ((await Promise.race([exited, late])) === 'late') {
      child.kill('SIGKILL');
      throw new Error(`the node did not end within ${stopTimeoutMs} ms of ${signal}`);
    }
    patience.abort();
  }
}

async function run(script: string, args: readonly string[], environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [join(root, script), ...args], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 2, 2],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`node ${script} ${args.join(' ')} ended with ${code}`);
}

/** The port in the log line `listening`; the last lines of the log where the process ends or stays silent instead. */
function listeningPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const last: string[] = [];
    const fail = (what: string): void => {
      clearTimeout(timer);
      reject(new Error([`the node ${what}`, ...last].join('\n')));
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

async function healthy(url: string): Promise<void> {
  const giveUpMs = performance.now() + startTimeoutMs;
  for (;;) {
    const status = await fetch(`${url}/api/v1/health`).then(
      (response) => response.body?.cancel().then(() => response.status),
      () => undefined,
    );
    if (status === 200) return;
    if (performance.now() > giveUpMs) throw new Error(`the node was not healthy after ${startTimeoutMs} ms`);
    await delay(50);
  }
}
