/** A node of this service in its own process and temporary folder. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atEnd, temporaryFolder } from './ending.js';
import { type ServerCommand, ServerProcess } from './server-process.js';
import type { Target } from './target.js';
import { until } from './until.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** With ten million players a start takes minutes if other work uses the core too. */
const healthPatience = { timeoutMs: 300_000, everyMs: 10 };

/** Builds `dist/` if it is stale. The output of the build goes to standard error. */
export async function buildNode(): Promise<void> {
  await run('scripts/build.mjs', ['--if-stale'], {});
}

/** Settings of a node that are rarely set. */
export interface OwnNodeOptions extends Pick<ServerCommand, 'memoryGroup' | 'isElsewhere'> {
  /** 0, the default, for a free one. */
  readonly port?: number;
}

export class OwnNode {
  readonly #folder = temporaryFolder('ptf-bench-');
  readonly #environment: Readonly<Record<string, string>>;
  readonly #options: OwnNodeOptions;
  #process: ServerProcess | undefined;
  #port: number;

  /** `environment` overrides the node's settings for a bench. Nothing runs before `start`. */
  constructor(environment: Readonly<Record<string, string>> = {}, options: OwnNodeOptions = {}) {
    this.#port = options.port ?? 0;
    this.#options = options;
    this.#environment = {
      HOST: '127.0.0.1',
      DATA_DIR: join(this.#folder.path, 'data'),
      HALF_LIFE_DAYS: '0',
      PEER_AUTH_ENABLED: 'true',
      REGISTRATION_MODE: 'open',
      ...environment,
    };
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get port(): number {
    return this.#port;
  }

  get dataDir(): string {
    return this.#environment.DATA_DIR!;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Returns the node as a target, before its start or after it. */
  target(name: string): Target {
    const node = this;
    return {
      name,
      host: '127.0.0.1',
      get port() {
        return node.#port;
      },
      get pids() {
        return [node.pid!];
      },
      get loopSamples() {
        return node.#process?.loopSamples ?? [];
      },
      stop: () => node.stop(),
    };
  }

  /**
   * Resolves once the node listens and is healthy. A later start keeps the port of the first, so that clients can
   * reconnect.
   */
  async start(): Promise<void> {
    this.#process = new ServerProcess({
      script: join(root, 'dist/main.js'),
      // An empty folder, so that no .env is read.
      cwd: this.#folder.path,
      env: { ...this.#environment, PORT: String(this.#port) },
      ...this.#options,
    });
    this.#port = await this.#process.start();
    await until(() => isHealthy(this.url), healthPatience, 'the node was not healthy in time');
  }

  /** Forms the group in the folder and stops. The next start may choose another port. */
  async form(): Promise<void> {
    await this.start();
    await this.halt();
    this.#port = 0;
  }

  /** Kills the process at once, as a power cut would. The folder stays. */
  async kill(): Promise<void> {
    await this.#process?.end('SIGKILL');
  }

  /** Ends the process as an operator would. The folder stays. */
  async halt(): Promise<void> {
    await this.#process?.end('SIGTERM');
  }

  async stop(): Promise<void> {
    await this.halt();
    this.#folder.remove();
  }

  /** Runs the operator command against this node. */
  async operate(...args: readonly string[]): Promise<void> {
    await run('dist/ptf.js', args, this.#environment);
  }
}

async function run(script: string, args: readonly string[], environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [join(root, script), ...args], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 2, 2],
  });
  const forget = atEnd(() => child.kill('SIGKILL'));
  const [code] = await once(child, 'exit');
  forget();
  if (code !== 0) throw new Error(`node ${script} ${args.join(' ')} ended with ${code}`);
}

async function isHealthy(url: string): Promise<boolean> {
  const response = await fetch(`${url}/api/v1/health`).catch(() => undefined);
  await response?.body?.cancel();
  return response?.status === 200;
}
