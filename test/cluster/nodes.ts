/**
 * One node of the fault harness: a process of `dist/main.js`, a proxy in front of the node, and a proxy from the node
 * to each member of etcd.
 */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Child } from '../../bench/child.js';
import { type GroupNode, isReady, nodeVariables } from '../../bench/cluster/node-group.js';
import { freePort } from '../../bench/free-ports.js';
import { mainEntry } from '../support/process.js';
import { type LinkState, TcpProxy } from './tcp-proxy.js';

const clockEntry = fileURLToPath(new URL('./jumping-clock.js', import.meta.url));

/** A node must be ready within this time of its start. */
const readyMs = 120_000;
const askMs = 10_000;
/** `RestartSec` of the unit in deploy/. */
const restartMs = 1_000;
const outputChars = 1_500;

export interface NodeOptions {
  readonly name: string;
  readonly dir: string;
  readonly etcdPorts: readonly number[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
}

export class ClusterNode implements GroupNode {
  readonly name: string;
  readonly dir: string;
  /** The proxy through which other nodes and clients reach the node. */
  readonly front: TcpProxy;
  /** The proxies through which the node reaches the members of etcd. */
  readonly etcdLinks: readonly TcpProxy[];
  readonly #port: number;
  readonly #env: Readonly<Record<string, string>>;
  readonly #clockFile: string;
  #child: Child | null = null;
  /** Exit and last output of each process that ended by itself. The node then starts again, as under a supervisor. */
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

  /** Origin of the proxy in front of the node. */
  get url(): string {
    return this.front.url;
  }

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

  get lastOutput(): string {
    return this.#child?.output.slice(-outputChars) ?? '';
  }

  start(): void {
    mkdirSync(this.dir, { recursive: true });
    this.setClock(0);
    const endpoints = this.etcdLinks.map(({ url }) => url);
    const env = {
      PATH: process.env.PATH,
      ...nodeVariables({ nodeId: this.name, url: this.front.url, endpoints }),
      DATA_DIR: this.dir,
      HOST: '127.0.0.1',
      PORT: String(this.#port),
      LOG_LEVEL: 'info',
      HARNESS_CLOCK: this.#clockFile,
      ...this.#env,
    };
    const child = new Child(process.execPath, ['--import', clockEntry, mainEntry], { cwd: this.dir, env });
    this.#child = child;
    void this.front.listen();
    void child.ended.then(async (exit) => {
      if (this.#child === child) this.front.refuse();
      if (child.wasKilled) return;
      this.ends.push(`${exit}: ${child.output.slice(-outputChars)}`);
      await delay(restartMs, undefined, { ref: false });
      if (this.#child === child && !this.#isClosed) this.start();
    });
  }

  /** Sets how far the node's clock is ahead of the machine's clock. */
  setClock(aheadMs: number): void {
    writeFileSync(this.#clockFile, String(aheadMs));
    if (this.isUp) this.child.child.kill('SIGUSR2');
  }

  /** Sends a request past the proxy. */
  async ask(method: string, path: string, body?: object, key?: string): Promise<Answer> {
    const response = await fetch(`${this.directUrl}/api/v1${path}`, {
      method,
      headers: {
        'Content-Type': 'application/json',
        Connection: 'close',
        ...(key === undefined ? {} : { 'X-Peer-API-Key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(askMs),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'], headers: response.headers };
  }

  async ready(timeoutMs = readyMs): Promise<void> {
    const giveUpMs = performance.now() + timeoutMs;
    while (!(await isReady(this))) {
      if (performance.now() > giveUpMs) throw new Error(`${this.name} is not ready: ${this.lastOutput}`);
      await delay(50);
    }
  }

  /** Sets the state of every link between the node and etcd. */
  cutFromEtcd(state: Exclude<LinkState, 'open'>): void {
    for (const link of this.etcdLinks) link.set(state);
  }

  healLinks(): void {
    this.front.heal();
    for (const link of this.etcdLinks) link.heal();
  }

  /** Removes the data folder, so that the node starts like one on a new machine. */
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
