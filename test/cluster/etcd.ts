/** Members of etcd on loopback, each behind a link that the other members and nothing else come through. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Child } from './processes.js';
import { freePorts, TcpProxy } from './tcp-proxy.js';

/** Why there is no etcd here; undefined where there is. */
export function noEtcd(): string | undefined {
  const found = spawnSync('etcd', ['--version']);
  return found.status === 0 ? undefined : 'etcd is not at hand (apt-get install etcd-server)';
}

/** Small files, so that old ones go soon: the byte search after an erasure looks into all of them. */
const settings = [
  ['--snapshot-count', '2000'],
  ['--max-snapshots', '1'],
  ['--max-wals', '1'],
  ['--heartbeat-interval', '100'],
  ['--election-timeout', '1000'],
  ['--log-level', 'error'],
].flat();

const startedMs = 60_000;
/** Of one key that fills the database. */
const ballastBytes = 1_000_000;

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
    const list = this.ctl(others, ['member', 'list']);
    const id = list
      .split('\n')
      .find((line) => line.includes(` ${this.names[index]},`))
      ?.split(',')[0];
    if (id === undefined) throw new Error(`no such member: ${list}`);
    this.ctl(others, ['member', 'remove', id]);
    rmSync(this.folderOf(index), { recursive: true, force: true });
    // Until the members that are left have agreed, a change is refused.
    const add = ['member', 'add', this.names[index]!, `--peer-urls=${this.links[index]!.url}`];
    await retried(() => this.ctl(others, add));
    this.startMember(index, 'existing');
    await this.healthy();
  }

  /** Number of the member that leads the others; undefined while none does. */
  leader(): number | undefined {
    for (const [index, endpoint] of this.endpoints.entries()) {
      const status = spawnSync(
        'etcdctl',
        ['--endpoints', endpoint, '--command-timeout=2s', 'endpoint', 'status', '-w', 'json'],
        {
          encoding: 'utf8',
          env: { PATH: process.env.PATH, ETCDCTL_API: '3' },
        },
      );
      if (status.status !== 0) continue;
      const [found] = JSON.parse(status.stdout.replaceAll(/"(member_id|leader)":(\d+)/g, '"$1":"$2"')) as {
        Status: { header: { member_id: string }; leader: string };
      }[];
      if (found?.Status.leader === found?.Status.header.member_id) return index;
    }
    return undefined;
  }

  /** Fills the database up to a part of its quota with keys of nobody's; answers their number. */
  fill(prefix: string, part: number): number {
    const bytes = (this.quotaBytes ?? 0) * part - this.dbBytes();
    const count = Math.max(0, Math.ceil(bytes / ballastBytes));
    const value = 'b'.repeat(ballastBytes);
    for (let i = 0; i < count; i++) this.ctl(this.endpoints, ['put', `${prefix}${i}`], value);
    return count;
  }

  /** Gives back what `fill` took. */
  clear(prefix: string, count: number): void {
    if (count === 0) return;
    this.ctl(this.endpoints, ['del', '--prefix', prefix]);
    const status = this.ctl(this.endpoints.slice(0, 1), ['endpoint', 'status', '-w', 'json']);
    const [found] = JSON.parse(status) as { Status: { header: { revision: number } } }[];
    // The nodes compact too, and may have been further.
    try {
      this.ctl(this.endpoints, ['compact', String(found!.Status.header.revision)]);
    } catch (error) {
      if (!/compacted/.test(String(error))) throw error;
    }
    for (const endpoint of this.endpoints) this.ctl([endpoint], ['defrag']);
    this.ctl(this.endpoints, ['alarm', 'disarm']);
  }

  /** Size of the database of the first member. */
  dbBytes(): number {
    const status = this.ctl(this.endpoints.slice(0, 1), ['endpoint', 'status', '-w', 'json']);
    const [found] = JSON.parse(status) as { Status: { dbSize: number } }[];
    return found!.Status.dbSize;
  }

  /** Runs etcdctl; throws with what it said. */
  ctl(endpoints: readonly string[], args: readonly string[], input = ''): string {
    const { status, stdout, stderr, error } = spawnSync(
      'etcdctl',
      ['--endpoints', endpoints.join(','), '--command-timeout=5s', ...args],
      { encoding: 'utf8', input, env: { PATH: process.env.PATH, ETCDCTL_API: '3' } },
    );
    if (status !== 0) throw new Error(error?.message ?? (stderr || stdout));
    return stdout;
  }

  /** Resolves once every member answers a read that asks the majority. */
  async healthy(): Promise<void> {
    const until = performance.now() + startedMs;
    for (const [index, endpoint] of this.endpoints.entries()) {
      for (;;) {
        try {
          this.ctl([endpoint], ['get', 'any']);
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

async function retried(work: () => unknown): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      work();
      return;
    } catch (error) {
      if (tries === 50) throw error;
      await delay(200);
    }
  }
}
