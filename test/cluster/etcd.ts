/** Members of etcd on loopback, each behind a link that the other members and nothing else come through. */

import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../../bench/free-ports.js';
import { Child } from './processes.js';
import { TcpProxy } from './tcp-proxy.js';

/** Why there is no etcd here; undefined where there is. */
export function noEtcd(): string | undefined {
  const missing = ['etcd', 'etcdctl'].filter((name) => spawnSync(name, ['--help']).error !== undefined);
  return missing.length === 0 ? undefined : `${missing} not at hand (apt-get install etcd-server etcd-client)`;
}

/**
 * Small files, so that old ones go soon: the byte search after an erasure looks into all of them. Elections are slower
 * than by default, since the harness runs on busy machines; etcd then grants no lease below 3 s.
 */
const settings = [
  ['--snapshot-count', '2000'],
  ['--max-snapshots', '1'],
  ['--max-wals', '1'],
  ['--heartbeat-interval', '200'],
  ['--election-timeout', '2000'],
  ['--log-level', 'error'],
].flat();

const startedMs = 60_000;
/** Of one key that fills the database. */
const ballastBytes = 1_000_000;

const outputBytes = 16 * 1024 * 1024;

/** Of `etcdctl endpoint status`. */
interface MemberStatus {
  readonly header: { readonly member_id: string; readonly revision: string };
  readonly leader: string;
  readonly dbSize: string;
}

export interface EtcdOptions {
  readonly dir: string;
  readonly count?: number;
  /** `--quota-backend-bytes`. */
  readonly quotaBytes?: number;
}

export class EtcdMembers {
  readonly names: readonly string[];
  readonly #dir: string;
  readonly quotaBytes: number | undefined;
  readonly #clientPorts: readonly number[];
  readonly #peerPorts: readonly number[];
  /** Between the members. */
  readonly links: readonly TcpProxy[];
  readonly #children: (Child | null)[];

  private constructor(options: EtcdOptions, clientPorts: number[], peerPorts: number[], links: readonly TcpProxy[]) {
    this.#dir = options.dir;
    this.quotaBytes = options.quotaBytes;
    this.#clientPorts = clientPorts;
    this.#peerPorts = peerPorts;
    this.links = links;
    this.names = clientPorts.map((_, index) => `m${index}`);
    this.#children = clientPorts.map(() => null);
  }

  /** Starts the members and waits until they have a leader. */
  static async start(options: EtcdOptions): Promise<EtcdMembers> {
    const { count = 3 } = options;
    const ports = await freePorts(2 * count);
    const [clientPorts, peerPorts] = [ports.slice(0, count), ports.slice(count)];
    const links = await Promise.all(peerPorts.map((port) => TcpProxy.open(port)));
    const members = new EtcdMembers(options, clientPorts, peerPorts, links);
    for (let index = 0; index < count; index++) members.startMember(index);
    await members.healthy();
    return members;
  }

  get count(): number {
    return this.names.length;
  }

  get clientPorts(): readonly number[] {
    return this.#clientPorts;
  }

  get endpoints(): string[] {
    return this.#clientPorts.map((port) => `http://127.0.0.1:${port}`);
  }

  folderOf(index: number): string {
    return join(this.#dir, this.names[index]!);
  }

  member(index: number): Child {
    const child = this.#children[index];
    if (child === null || child === undefined) throw new Error(`member ${index} was never started`);
    return child;
  }

  /** Starts a member, anew or again. `state`: `existing` for one that replaces another. */
  startMember(index: number, state: 'new' | 'existing' = 'new'): void {
    const client = this.endpoints[index]!;
    mkdirSync(this.#dir, { recursive: true });
    const args = [
      ['--name', this.names[index]!, '--data-dir', this.folderOf(index)],
      ['--listen-client-urls', client, '--advertise-client-urls', client],
      ['--listen-peer-urls', `http://127.0.0.1:${this.#peerPorts[index]}`],
      ['--initial-advertise-peer-urls', this.links[index]!.url],
      ['--initial-cluster', this.names.map((name, at) => `${name}=${this.links[at]!.url}`).join(',')],
      ['--initial-cluster-state', state, '--initial-cluster-token', 'harness'],
      this.quotaBytes === undefined ? [] : ['--quota-backend-bytes', String(this.quotaBytes)],
      settings,
    ].flat();
    this.#children[index] = new Child('etcd', args, {}, this.#dir);
  }

  /** Takes a member out of the cluster with its data, and puts a new one in its place. */
  async replaceMember(index: number): Promise<void> {
    const others = this.endpoints.filter((_, at) => at !== index);
    await this.member(index).kill();
    const list = await this.ctl(others, ['member', 'list']);
    const id = list
      .split('\n')
      .find((line) => line.includes(` ${this.names[index]},`))
      ?.split(',')[0];
    if (id === undefined) throw new Error(`no such member: ${list}`);
    await retried(() => this.ctl(others, ['member', 'remove', id]));
    rmSync(this.folderOf(index), { recursive: true, force: true });
    // Until the members that are left have agreed, a change is refused.
    const add = ['member', 'add', this.names[index]!, `--peer-urls=${this.links[index]!.url}`];
    await retried(() => this.ctl(others, add));
    this.startMember(index, 'existing');
    await this.healthy();
  }

  /** Number of the member that leads the others; undefined while none does. */
  async leader(): Promise<number | undefined> {
    for (const [index, endpoint] of this.endpoints.entries()) {
      try {
        const { leader, header } = await this.#status(endpoint);
        if (leader === header.member_id) return index;
      } catch {
        // It is down, or has no leader.
      }
    }
    return undefined;
  }

  /** Fills the database up to a part of its quota with keys of nobody's; answers their number. */
  async fill(prefix: string, part: number): Promise<number> {
    const bytes = (this.quotaBytes ?? 0) * part - (await this.dbBytes());
    const count = Math.max(0, Math.ceil(bytes / ballastBytes));
    const value = 'b'.repeat(ballastBytes);
    for (let i = 0; i < count; i++) await this.ctl(this.endpoints, ['put', `${prefix}${i}`], value);
    return count;
  }

  /** Gives back what `fill` took. */
  async clear(prefix: string, count: number): Promise<void> {
    if (count === 0) return;
    await this.ctl(this.endpoints, ['del', '--prefix', prefix]);
    const { header } = await this.#status(this.endpoints[0]!);
    // The nodes compact too, and may have been further.
    await this.ctl(this.endpoints, ['compact', header.revision]).catch((error: Error) => {
      if (!error.message.includes('compacted')) throw error;
    });
    for (const endpoint of this.endpoints) await this.ctl([endpoint], ['defrag']);
    await this.ctl(this.endpoints, ['alarm', 'disarm']);
  }

  /** Size of the database of the first member. */
  async dbBytes(): Promise<number> {
    return Number((await this.#status(this.endpoints[0]!)).dbSize);
  }

  /** Runs etcdctl; rejects with what it said. */
  ctl(endpoints: readonly string[], args: readonly string[], input = ''): Promise<string> {
    const options = { env: { PATH: process.env.PATH, ETCDCTL_API: '3' }, maxBuffer: outputBytes };
    const all = ['--endpoints', endpoints.join(','), '--command-timeout=5s', ...args];
    return new Promise((resolve, reject) => {
      // Not synchronously: the links of the members run in this process.
      const child = execFile('etcdctl', all, options, (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(stderr || stdout || error.message));
      });
      child.stdin!.on('error', () => undefined);
      child.stdin!.end(input);
    });
  }

  /** Numbers as text, since ids exceed 2^53. */
  async #status(endpoint: string): Promise<MemberStatus> {
    const text = await this.ctl([endpoint], ['endpoint', 'status', '-w', 'json']);
    const [found] = JSON.parse(text.replaceAll(/":(\d+)/g, '":"$1"')) as { Status: MemberStatus }[];
    return found!.Status;
  }

  /** Resolves once every member answers a read that asks the majority. */
  async healthy(): Promise<void> {
    const until = performance.now() + startedMs;
    for (const [index, endpoint] of this.endpoints.entries()) {
      for (;;) {
        try {
          await this.ctl([endpoint], ['get', 'any']);
          break;
        } catch (error) {
          if (performance.now() > until)
            throw new Error(`${this.names[index]}: ${this.member(index).output}`, { cause: error });
          await delay(100);
        }
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#children.map((child) => child?.kill()));
    await Promise.all(this.links.map((link) => link.close()));
  }
}

async function retried(work: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await work();
      return;
    } catch (error) {
      if (tries === 50) throw error;
      await delay(200);
    }
  }
}
