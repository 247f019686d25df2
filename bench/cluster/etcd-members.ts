/**
 * Members of an etcd cluster on loopback, for tests and the bench. Their files are in a temporary folder, which is
 * removed with them.
 */

import { execFile, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EtcdClient } from '../../src/store/etcd/etcd-client.js';
import { temporaryFolder } from '../ending.js';
import { freePorts } from '../free-ports.js';
import { Child } from './child.js';

/** Returns why no member can be started on this machine; undefined if the programs of etcd are installed. */
export function noEtcd(): string | undefined {
  const missing = ['etcd', 'etcdctl'].filter((name) => spawnSync(name, ['--help']).error !== undefined);
  return missing.length === 0 ? undefined : `${missing} not found (apt-get install etcd-server etcd-client)`;
}

const startedMs = 60_000;
/**
 * The size of one value that fills the database, and how many one transaction writes. The database rewrites the newest
 * values with every commit, so that larger ones make its file grow beyond what it holds.
 */
const ballastBytes = 100_000;
const ballastAtOnce = 10;
const fillMs = 60_000;
const outputBytes = 16 * 1024 * 1024;
const retriesMax = 50;

/** The fields of `etcdctl endpoint status` that are used. */
interface MemberStatus {
  readonly header: { readonly member_id: string; readonly revision: string };
  readonly leader: string;
}

export interface EtcdOptions {
  readonly count?: number;
  /** `--quota-backend-bytes`. */
  readonly quotaBytes?: number;
  /** Signals of the terminal do not reach the members. */
  readonly detached?: boolean;
  /** Additional flags of every member. */
  readonly flags?: readonly string[];
  /** Opens a proxy to the port and returns its URL. The other members connect to the member only through the proxy. */
  readonly proxyTo?: (port: number) => Promise<string>;
  /** Returns the command that runs a member, for example pinned to a core. */
  readonly commandOf?: (command: string, args: readonly string[]) => [command: string, args: readonly string[]];
}

export interface MemberStart {
  /** The members of the cluster that the member joins, itself included. Omitted: the member starts with all others. */
  readonly joins?: readonly number[];
  /** Additional flags of this start. */
  readonly more?: readonly string[];
}

export class EtcdMembers {
  readonly names: readonly string[];
  readonly quotaBytes: number | undefined;
  readonly clientPorts: readonly number[];
  readonly #options: EtcdOptions;
  readonly #folder = temporaryFolder('ptf-etcd-');
  readonly #peerPorts: readonly number[];
  /** The URL at which the other members connect to a member, by its index. */
  readonly #peerUrls: readonly string[];
  readonly #children: (Child | null)[];

  private constructor(options: EtcdOptions, clientPorts: number[], peerPorts: number[], peerUrls: readonly string[]) {
    this.#options = options;
    this.quotaBytes = options.quotaBytes;
    this.clientPorts = clientPorts;
    this.#peerPorts = peerPorts;
    this.#peerUrls = peerUrls;
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

  get count(): number {
    return this.names.length;
  }

  get endpoints(): string[] {
    return this.clientPorts.map((port) => `http://127.0.0.1:${port}`);
  }

  /** The data folder of each member. */
  get folders(): string[] {
    return this.names.map((name) => join(this.#folder.path, name));
  }

  member(index: number): Child {
    const child = this.#children[index];
    if (child === null || child === undefined) throw new Error(`member ${index} was never started`);
    return child;
  }

  /** Starts a member for the first time or again. */
  startMember(index: number, { joins, more = [] }: MemberStart = {}): void {
    const { flags = [], commandOf, detached = false } = this.#options;
    const initial = joins ?? this.names.map((_, at) => at);
    const client = this.endpoints[index]!;
    const args = [
      ['--name', this.names[index]!, '--data-dir', this.folders[index]!, '--log-level', 'error'],
      ['--listen-client-urls', client, '--advertise-client-urls', client],
      ['--listen-peer-urls', `http://127.0.0.1:${this.#peerPorts[index]}`],
      ['--initial-advertise-peer-urls', this.#peerUrls[index]!],
      ['--initial-cluster', initial.map((at) => `${this.names[at]}=${this.#peerUrls[at]}`).join(',')],
      ['--initial-cluster-state', joins === undefined ? 'new' : 'existing'],
      ['--initial-cluster-token', this.#folder.path],
      this.quotaBytes === undefined ? [] : ['--quota-backend-bytes', String(this.quotaBytes)],
      flags,
      more,
    ].flat();
    const [command, all] = commandOf?.('etcd', args) ?? ['etcd', args];
    this.#children[index] = new Child(command, all, {}, this.#folder.path, detached);
  }

  /** Removes a member and its data from the cluster, and adds a new member in its place. */
  async replaceMember(index: number): Promise<void> {
    const others = this.endpoints.filter((_, at) => at !== index);
    await this.member(index).kill();
    const list = await this.ctl(others, ['member', 'list']);
    const id = list
      .split('\n')
      .find((line) => line.includes(` ${this.names[index]},`))
      ?.split(',')[0];
    if (id === undefined) throw new Error(`no member is named ${this.names[index]}: ${list}`);
    await retried(() => this.ctl(others, ['member', 'remove', id]));
    await this.#add(
      index,
      others,
      this.names.map((_, at) => at),
    );
  }

  /**
   * Makes a cluster of one member from the data of a member whose others are lost, and adds new members in their place,
   * by the steps of docs/operating/cluster.md.
   */
  async rebuildFrom(survivor: number): Promise<void> {
    await this.member(survivor).kill('SIGTERM');
    this.startMember(survivor, { more: ['--force-new-cluster'] });
    await this.#isHealthy(survivor);
    await this.member(survivor).kill('SIGTERM');
    this.startMember(survivor);
    await this.#isHealthy(survivor);
    const members = [survivor];
    for (const index of this.names.keys()) {
      if (index === survivor) continue;
      const others = members.map((at) => this.endpoints[at]!);
      members.push(index);
      await this.member(index).kill();
      await this.#add(index, others, members);
    }
  }

  /** Adds a member without data to the cluster of `others`. `members` includes the new one. */
  async #add(index: number, others: readonly string[], members: readonly number[]): Promise<void> {
    rmSync(this.folders[index]!, { recursive: true, force: true });
    // The other members refuse a change until they have agreed on a leader.
    const add = ['member', 'add', this.names[index]!, `--peer-urls=${this.#peerUrls[index]}`];
    await retried(() => this.ctl(others, add));
    this.startMember(index, { joins: members });
    for (const at of members) await this.#isHealthy(at);
  }

  /** Returns the index of the member that leads the others; undefined if none leads. */
  async leader(): Promise<number | undefined> {
    for (const [index, endpoint] of this.endpoints.entries()) {
      try {
        const { leader, header } = await this.#status(endpoint);
        if (leader === header.member_id) return index;
      } catch {
        // The member is down or has no leader.
      }
    }
    return undefined;
  }

  /**
   * Fills the database with keys that no node reads, up to a part of its quota, and keeps the files below the quota
   * itself. Returns the number of these keys.
   */
  async fill(prefix: string, part: number): Promise<number> {
    const wanted = (this.quotaBytes ?? 0) * part;
    const value = Buffer.alloc(ballastBytes, 'b');
    const client = this.#client();
    try {
      for (let count = 0; ; count += ballastAtOnce) {
        const { bytes, inUse } = await this.#size(client);
        if (inUse >= wanted) return count;
        // The files grow by more than the values.
        if (bytes > wanted) await this.#defragment(client);
        const keys = Array.from({ length: ballastAtOnce }, (_, i) => Buffer.from(`${prefix}${count + i}`));
        await client.txn({ compare: [], success: keys.map((key) => ({ request_put: { key, value } })) }, fillMs);
      }
    } finally {
      client.close();
    }
  }

  /** Removes the keys of `fill` and frees their space. */
  async clear(prefix: string, count: number): Promise<void> {
    if (count === 0) return;
    await retried(() => this.ctl(this.endpoints, ['del', '--prefix', prefix]));
    const { header } = await this.#status(this.endpoints[0]!);
    // The nodes compact too, and may have compacted a later revision.
    await this.ctl(this.endpoints, ['compact', header.revision]).catch((error: Error) => {
      if (!error.message.includes('compacted')) throw error;
    });
    const client = this.#client();
    await this.#defragment(client).finally(() => client.close());
    await retried(() => this.ctl(this.endpoints, ['alarm', 'disarm']));
  }

  /** Returns the size of the largest database of a member. */
  async dbBytes(): Promise<number> {
    const client = this.#client();
    return (await this.#size(client).finally(() => client.close())).bytes;
  }

  #client(): EtcdClient {
    const { endpoints } = this;
    return new EtcdClient({ endpoints, ca: null, cert: null, key: null, username: null, password: null });
  }

  /** Returns the size of the largest file, and of the values in it. */
  async #size(client: EtcdClient): Promise<{ readonly bytes: number; readonly inUse: number }> {
    const statuses = await Promise.all(this.endpoints.map((_, at) => retried(() => client.status(at))));
    return {
      bytes: Math.max(...statuses.map(({ dbSize }) => Number(dbSize))),
      inUse: Math.max(...statuses.map(({ dbSizeInUse }) => Number(dbSizeInUse))),
    };
  }

  async #defragment(client: EtcdClient): Promise<void> {
    for (const at of this.endpoints.keys()) await retried(() => client.defragment(at));
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

  /** Returns numbers as text, because member ids exceed 2^53. */
  async #status(endpoint: string): Promise<MemberStatus> {
    const text = await this.ctl([endpoint], ['endpoint', 'status', '-w', 'json']);
    const [found] = JSON.parse(text.replaceAll(/":(\d+)/g, '":"$1"')) as { Status: MemberStatus }[];
    return found!.Status;
  }

  /** Resolves once every member answers a read that needs the majority. */
  async healthy(): Promise<void> {
    for (const index of this.names.keys()) await this.#isHealthy(index);
  }

  async #isHealthy(index: number): Promise<void> {
    const giveUpMs = performance.now() + startedMs;
    for (;;) {
      try {
        await this.ctl([this.endpoints[index]!], ['get', 'any']);
        return;
      } catch (error) {
        if (performance.now() > giveUpMs)
          throw new Error(`${this.names[index]} is not healthy: ${this.member(index).output}`, { cause: error });
        await delay(100);
      }
    }
  }

  /** Kills the members and removes their files. */
  async stop(): Promise<void> {
    await Promise.all(this.#children.map((child) => child?.kill()));
    this.#folder.remove();
  }
}

async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === retriesMax) throw error;
      await delay(200);
    }
  }
}
