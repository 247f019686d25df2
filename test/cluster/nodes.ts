/**
 * One node of the harness: a process of `dist/main.js`, its links to the members of etcd, and the link that leads to
 * it.
 */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../bench/free-ports.js';
import { mainEntry } from '../support/process.js';
import { Child } from './processes.js';
import { TcpProxy } from './tcp-proxy.js';

export const salt = 'a salt of the cluster harness';
export const groupId = 'harness';
export const etcdPrefix = `/ptf/${groupId}/`;
const clusterSecret = 'a secret of the harness with enough bytes';
const clockEntry = fileURLToPath(new URL('./jumping-clock.js', import.meta.url));

/** How long a node may take until it serves reads. */
const readyMs = 120_000;
const askMs = 2_000;
/** As `RestartSec` of the unit in deploy/. */
const restartMs = 1_000;
const endChars = 1_500;

export interface NodeOptions {
  readonly name: string;
  readonly dir: string;
  /** Ports of the members of etcd. */
  readonly etcdPorts: readonly number[];
  readonly env?: Readonly<Record<string, string>>;
}

export class ClusterNode {
  readonly name: string;
  readonly dir: string;
  /** Leads to the node: what the others and the clients use. */
  readonly front: TcpProxy;
  /** One per member of etcd. */
  readonly etcdLinks: readonly TcpProxy[];
  readonly #port: number;
  readonly #env: Readonly<Record<string, string>>;
  readonly #clockFile: string;
  #child: Child | null = null;
  /** Why it ended by itself, each time; it was started again, as a supervisor does. */
  readonly ends: string[] = [];
  #isClosed = false;

  private constructor(options: NodeOptions, port: number, front: TcpProxy, etcdLinks: readonly TcpProxy[]) {
    this.name = options.name;
    this.dir = options.dir;
    this.#env = options.env ?? {};
    this.#port = port;
    this.front = front;
    this.etcdLinks = etcdLinks;
    this.#clockFile = `${options.dir}.clock`;
  }

  static async make(options: NodeOptions): Promise<ClusterNode> {
    const port = await freePort();
    const front = await TcpProxy.open(port);
    const links = await Promise.all(options.etcdPorts.map((etcdPort) => TcpProxy.open(etcdPort)));
    return new ClusterNode(options, port, front, links);
  }

  /** Through the link that the harness may cut. */
  get url(): string {
    return this.front.url;
  }

  /** Past every link: for the harness's own questions. */
  get directUrl(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get child(): Child {
    if (this.#child === null) throw new Error(`${this.name} was never started`);
    return this.#child;
  }

  get isUp(): boolean {
    return this.#child?.isUp === true;
  }

  start(more: Readonly<Record<string, string>> = {}): void {
    mkdirSync(this.dir, { recursive: true });
    this.setClock(0);
    const env = {
      CLUSTER: 'etcd',
      ETCD_ENDPOINTS: this.etcdLinks.map(({ url }) => url).join(','),
      NODE_ID: this.name,
      ADVERTISE_URL: this.front.url,
      CLUSTER_SECRET: clusterSecret,
      GROUP_ID: groupId,
      GROUP_SALT: salt,
      DATA_DIR: this.dir,
      HOST: '127.0.0.1',
      PORT: String(this.#port),
      LOG_LEVEL: 'info',
      ERASURE_QUOTA_PER_DAY: '1000000',
      WEIGHTS_INTERVAL_MS: '1000',
      SNAPSHOT_EVERY: '5000',
      DISK_FREE_MIN_MB: '16',
      HARNESS_CLOCK: this.#clockFile,
      ...this.#env,
      ...more,
    };
    const child = new Child(process.execPath, ['--import', clockEntry, mainEntry], env, this.dir);
    this.#child = child;
    void child.ended.then(async (how) => {
      if (child.wasKilled) return;
      this.ends.push(`${how}: ${child.output.slice(-endChars)}`);
      await delay(restartMs, undefined, { ref: false });
      if (this.#child === child && !this.#isClosed) this.start(more);
    });
  }

  /** How far ahead of the machine's clock the node's is, in ms. */
  setClock(aheadMs: number): void {
    writeFileSync(this.#clockFile, String(aheadMs));
    if (this.isUp) this.child.child.kill('SIGUSR2');
  }

  /** What the node says of itself, past every link. */
  async told(): Promise<string> {
    if (!this.isUp) return 'down';
    try {
      const response = await fetch(`${this.directUrl}/api/v1/health`, { signal: AbortSignal.timeout(askMs) });
      return await response.text();
    } catch (error) {
      return String(error);
    }
  }

  /** The record up to which the node has applied the log; -1 where it does not say. */
  async appliedSeq(): Promise<number> {
    try {
      const response = await fetch(`${this.directUrl}/api/v1/peers?limit=1`, { signal: AbortSignal.timeout(askMs) });
      await response.arrayBuffer();
      return Number(response.headers.get('x-applied-seq') ?? -1);
    } catch {
      return -1;
    }
  }

  async isReady(): Promise<boolean> {
    try {
      const response = await fetch(`${this.directUrl}/api/v1/ready`, { signal: AbortSignal.timeout(askMs) });
      await response.arrayBuffer();
      return response.status === 200;
    } catch {
      return false;
    }
  }

  async ready(timeoutMs = readyMs): Promise<void> {
    const until = performance.now() + timeoutMs;
    while (!(await this.isReady())) {
      if (performance.now() > until)
        throw new Error(`${this.name} is not ready: ${await this.told()}; ${this.child.output.slice(-endChars)}`);
      await delay(50);
    }
  }

  /** Every link of the node to etcd. */
  cutFromEtcd(state: 'cut' | 'silent' | 'to-silent' | 'back-silent'): void {
    for (const link of this.etcdLinks) link.set(state);
  }

  healLinks(): void {
    this.front.heal();
    for (const link of this.etcdLinks) link.heal();
  }

  /** Removes all that the node had: the next start is that of a new machine. */
  wipe(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }

  get logFile(): string {
    return join(this.dir, 'log', 'data.mdb');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#child?.kill();
    await Promise.all([this.front, ...this.etcdLinks].map((link) => link.close()));
    rmSync(this.#clockFile, { force: true });
  }
}
