/**
 * Members of an etcd cluster on loopback, for tests and the bench. Their files are in a temporary folder, which is
 * removed with them.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EtcdClient } from '../../src/store/etcd/etcd-client.js';
import { Child } from '../child.js';
import { temporaryFolder } from '../ending.js';
import { freePorts } from '../free-ports.js';
import { areInstalled } from '../peers/daemon.js';
import { until } from '../until.js';

/** Returns why no member can be started on this machine; undefined if the programs of etcd are installed. */
export function noEtcd(): string | undefined {
  const areThere = areInstalled('etcd', 'etcdctl');
  return areThere ? undefined : 'etcd or etcdctl not found (apt-get install etcd-server etcd-client)';
}

const startPatience = { timeoutMs: 60_000, everyMs: 100 };
const outputBytes = 16 * 1024 * 1024;
const retriesMax = 50;

export interface EtcdOptions {
  readonly count?: number;
  /** `--quota-backend-bytes`. */
  readonly quotaBytes?: number;
  /** Signals of the terminal do not reach the members. */
  readonly detached?: boolean;
  readonly flags?: readonly string[];
  /** Opens a proxy to the port and returns its URL. The other members connect to the member only through the proxy. */
  readonly proxyTo?: (port: number) => Promise<string>;
  /** Returns the command that runs a member, for example pinned to a core. */
  readonly commandOf?: (command: string, args: readonly string[]) => [command: string, args: readonly string[]];
}

export interface MemberStart {
  /** The members of the cluster that the member joins, itself included. Omitted: the member starts with all others. */
  readonly joins?: readonly number[];
  readonly more?: readonly string[];
}

export class EtcdMembers {
  readonly names: readonly string[];
  readonly #folder = temporaryFolder('ptf-etcd-');
  readonly #children: (Child | null)[];

  /** `peerUrls`: the URL at which the other members connect to a member, by its index. */
  private constructor(
    private readonly options: EtcdOptions,
    readonly clientPorts: readonly number[],
    private readonly peerPorts: readonly number[],
    readonly peerUrls: readonly string[],
  ) {
    this.names = clientPorts.map((_, index) => `m${index}`);
    this.#children = clientPorts.map(() => null);
  }

  /** Starts the members and waits until they have a leader. */
  static async start(options: EtcdOptions = {}): Promise<EtcdMembers> {
    const { count = 3, proxyTo = async (port) => `http://127.0.0.1:${port}` } = options;
    const ports = await freePorts(2 * count);
    const [clientPorts, peerPorts] = [ports.slice(0, count), ports.slice(count)];
    const members = new EtcdMembers(options, clientPorts, peerPorts, await Promise.all(peerPorts.map(proxyTo)));
    for (let index = 0; index < count; index++) members.startMember(index);
    try {
      await members.healthy();
    } catch (error) {
      await members.stop();
      throw error;
    }
    return members;
  }

  get quotaBytes(): number | undefined {
    return this.options.quotaBytes;
  }

  get count(): number {
    return this.names.length;
  }

  get endpoints(): string[] {
    return this.clientPorts.map((port) => `http://127.0.0.1:${port}`);
  }

  get folders(): string[] {
    return this.names.map((name) => join(this.#folder.path, name));
  }

  member(index: number): Child {
    const child = this.#children[index];
    if (child === null || child === undefined) throw new Error(`member ${index} was never started`);
    return child;
  }

  startMember(index: number, { joins, more = [] }: MemberStart = {}): void {
    const { flags = [], commandOf, detached = false } = this.options;
    const initial = joins ?? this.names.map((_, at) => at);
    const client = this.endpoints[index]!;
    const args = [
      ['--name', this.names[index]!, '--data-dir', this.folders[index]!, '--log-level', 'error'],
      ['--listen-client-urls', client, '--advertise-client-urls', client],
      ['--listen-peer-urls', `http://127.0.0.1:${this.peerPorts[index]}`],
      ['--initial-advertise-peer-urls', this.peerUrls[index]!],
      ['--initial-cluster', initial.map((at) => `${this.names[at]}=${this.peerUrls[at]}`).join(',')],
      ['--initial-cluster-state', joins === undefined ? 'new' : 'existing'],
      ['--initial-cluster-token', this.#folder.path],
      this.quotaBytes === undefined ? [] : ['--quota-backend-bytes', String(this.quotaBytes)],
      flags,
      more,
    ].flat();
    const [command, all] = commandOf?.('etcd', args) ?? ['etcd', args];
    this.#children[index] = new Child(command, all, { cwd: this.#folder.path, detached });
  }

  async dbBytes(): Promise<number> {
    const client = this.client();
    return (await this.databaseSize(client).finally(() => client.close())).bytes;
  }

  client(): EtcdClient {
    const { endpoints } = this;
    return new EtcdClient({ endpoints, ca: null, cert: null, key: null, username: null, password: null });
  }

  /** Returns the size of the largest file of a member, and of the values in it. */
  async databaseSize(client: EtcdClient): Promise<{ readonly bytes: number; readonly inUse: number }> {
    const statuses = await Promise.all(this.endpoints.map((_, at) => retried(() => client.status(at))));
    return {
      bytes: Math.max(...statuses.map(({ dbSize }) => Number(dbSize))),
      inUse: Math.max(...statuses.map(({ dbSizeInUse }) => Number(dbSizeInUse))),
    };
  }

  /** Runs etcdctl and resolves to its output. Rejects with the text of its failure. */
  ctl(endpoints: readonly string[], args: readonly string[]): Promise<string> {
    const options = { env: { PATH: process.env.PATH, ETCDCTL_API: '3' }, maxBuffer: outputBytes };
    const all = ['--endpoints', endpoints.join(','), '--command-timeout=5s', ...args];
    return new Promise((resolve, reject) => {
      // A synchronous call would block the proxies of the members, which run in this process.
      execFile('etcdctl', all, options, (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(stderr || stdout || error.message));
      });
    });
  }

  /** Resolves once every member answers a read that needs the majority. */
  async healthy(): Promise<void> {
    for (const index of this.names.keys()) await this.isHealthy(index);
  }

  /** Resolves once the member answers such a read. */
  async isHealthy(index: number): Promise<void> {
    const answers = () =>
      this.ctl([this.endpoints[index]!], ['get', 'any']).then(
        () => true,
        () => false,
      );
    await until(answers, startPatience, () => `${this.names[index]} is not healthy: ${this.member(index).output}`);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#children.map((child) => child?.kill()));
    this.#folder.remove();
  }
}

export async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === retriesMax) throw error;
      await delay(200);
    }
  }
}
