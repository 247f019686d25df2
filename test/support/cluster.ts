/** Nodes of one group as processes of their own, over three real members of etcd, for tests. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../bench/free-ports.js';
import { type EtcdMembers, startEtcd } from './etcd-members.js';
import { until } from './until.js';

export const salt = '0123456789abcdef0123';
const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
}

export class ClusterProcesses {
  readonly members: EtcdMembers;
  readonly folder = mkdtempSync(join(tmpdir(), 'ptf-cluster-'));
  readonly #ports: readonly number[];
  readonly #running: (ChildProcess | null)[] = [];
  readonly #env: Readonly<Record<string, string>>;

  private constructor(members: EtcdMembers, ports: readonly number[], env: Readonly<Record<string, string>>) {
    this.members = members;
    this.#ports = ports;
    this.#env = env;
  }

  /** Starts the members and `count` nodes, and resolves once all are ready. */
  static async start(count: number, env: Readonly<Record<string, string>> = {}): Promise<ClusterProcesses> {
    const ports = await freePorts(count);
    const cluster = new ClusterProcesses(await startEtcd(), ports, env);
    for (let node = 0; node < count; node++) cluster.startNode(node);
    for (let node = 0; node < count; node++) await cluster.ready(node);
    return cluster;
  }

  dir(node: number): string {
    return join(this.folder, `n${node}`);
  }

  url(node: number): string {
    return `http://127.0.0.1:${this.#ports[node]}`;
  }

  startNode(node: number): void {
    const env = {
      PATH: process.env.PATH,
      CLUSTER: 'etcd',
      ETCD_ENDPOINTS: this.members.endpoints.join(','),
      NODE_ID: `n${node}`,
      ADVERTISE_URL: this.url(node),
      PORT: String(this.#ports[node]),
      GROUP_SALT: salt,
      CLUSTER_SECRET: 'a secret of at least 32 bytes, for tests',
      DATA_DIR: this.dir(node),
      LOG_LEVEL: 'info',
      ERASURE_MODE: 'peer',
      ...this.#env,
    };
    const log = openSync(join(this.folder, `n${node}.log`), 'a');
    this.#running[node] = spawn(process.execPath, [main], { env, stdio: ['ignore', log, log] });
  }

  async signal(node: number, signal: NodeJS.Signals): Promise<void> {
    const running = this.#running[node]!;
    const gone = signal === 'SIGKILL' || signal === 'SIGTERM' ? once(running, 'exit') : null;
    running.kill(signal);
    await gone;
  }

  /** Everything that a node has logged. */
  logOf(node: number): string {
    return readFileSync(join(this.folder, `n${node}.log`), 'utf8');
  }

  /** Rejects with the end of the node's log where it does not become ready. */
  async ready(node: number): Promise<void> {
    const isReady = async () => (await this.ask(node, 'GET', '/ready').catch(() => null))?.status === 200;
    await until(isReady).catch((error: unknown) => {
      const said = this.logOf(node).slice(-2_000);
      throw new Error(`node ${node} is not ready: ${said}`, { cause: error });
    });
  }

  /** The node that leads; rejects where none does for long. */
  async leader(): Promise<number> {
    let found = -1;
    await until(async () => {
      for (const node of this.#running.keys()) {
        const health = await this.ask(node, 'GET', '/health').catch(() => null);
        if ((health?.body.cluster as { role?: string } | undefined)?.role === 'leader') found = node;
      }
      return found >= 0;
    });
    return found;
  }

  async ask(node: number, method: string, path: string, body?: object, key?: string): Promise<Answer> {
    const response = await fetch(`${this.url(node)}/api/v1${path}`, {
      method,
      headers: {
        'Content-Type': 'application/json',
        Connection: 'close',
        ...(key === undefined ? {} : { 'X-Peer-API-Key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(10_000),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'], headers: response.headers };
  }

  async end(): Promise<void> {
    for (const running of this.#running) {
      if (running === null || running.exitCode !== null || running.signalCode !== null) continue;
      const gone = once(running, 'exit');
      running.kill('SIGKILL');
      await gone;
    }
    await this.members.end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
