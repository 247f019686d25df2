/** Three members of etcd and the nodes of one group on loopback, with every link between them under control. */
import { mkdirSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SmallDisk } from '../faults/small-disk.js';
import { EtcdMembers } from './etcd.js';
import { ClusterNode, etcdPrefix } from './nodes.js';
import { SlotWatch } from './slot-watch.js';

/** A node's own small disk, in MB, where this machine lets the harness mount one. */
const diskMb = 512;
/** How long a group may take until every node is ready and one leads. */
const settledMs = 120_000;

export interface GroupOptions {
  readonly nodes?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly quotaBytes?: number;
  /** Gives each node a small file system of its own, where that is permitted. */
  readonly smallDisks?: boolean;
}

export class Group {
  readonly dir: string;
  readonly etcd: EtcdMembers;
  readonly nodes: readonly ClusterNode[];
  /** Begun before the first node: nothing is compacted before it is seen. */
  readonly watch: SlotWatch;
  /** By the place of the node; empty where there are none. */
  readonly disks: readonly SmallDisk[];

  private constructor(dir: string, etcd: EtcdMembers, nodes: readonly ClusterNode[], disks: readonly SmallDisk[]) {
    this.dir = dir;
    this.etcd = etcd;
    this.nodes = nodes;
    this.disks = disks;
    this.watch = new SlotWatch(etcd.endpoints, etcdPrefix);
  }

  /** Starts everything and waits until it is settled. */
  static async start({
    nodes: count = 3,
    env = {},
    quotaBytes,
    smallDisks = false,
  }: GroupOptions = {}): Promise<Group> {
    const dir = await mkdtemp(join(tmpdir(), 'ptf-cluster-'));
    const disks: SmallDisk[] = [];
    const quota = quotaBytes === undefined ? {} : { quotaBytes };
    const etcd = await EtcdMembers.start({ dir: join(dir, 'etcd'), ...quota });
    const nodes: ClusterNode[] = [];
    for (let i = 0; i < count; i++) {
      const disk = smallDisks ? SmallDisk.mount(diskMb) : null;
      if (disk !== null) disks.push(disk);
      const folder = join(disk?.path ?? dir, `n${i}`);
      mkdirSync(folder, { recursive: true });
      nodes.push(await ClusterNode.make({ name: `n${i}`, dir: folder, etcdPorts: etcd.clientPorts, env }));
    }
    const group = new Group(dir, etcd, nodes, disks.length === count ? disks : []);
    for (const node of nodes) node.start();
    try {
      await group.settled();
    } catch (error) {
      await group.close();
      throw error;
    }
    return group;
  }

  get urls(): string[] {
    return this.nodes.map(({ url }) => url);
  }

  /** The node that holds the leader's key in etcd; undefined while none does. */
  async leader(): Promise<ClusterNode | undefined> {
    try {
      const value = await this.etcd.ctl(this.etcd.endpoints, ['get', '--print-value-only', `${etcdPrefix}leader`]);
      const { node_id: name } = JSON.parse(value) as { readonly node_id: string };
      return this.nodes.find((node) => node.name === name);
    } catch {
      return undefined;
    }
  }

  /** The same, once there is one. */
  async awaitLeader(): Promise<ClusterNode> {
    const until = performance.now() + settledMs;
    for (;;) {
      const leader = await this.leader();
      if (leader !== undefined) return leader;
      if (performance.now() > until) throw new Error(`no node leads: ${await this.told()}`);
      await delay(50);
    }
  }

  /** Resolves once every node serves reads and one of them leads. */
  async settled(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.ready(settledMs)));
    await this.awaitLeader();
  }

  /** Resolves once all nodes have applied the same records, and no more come. */
  async quiet(): Promise<number> {
    const until = performance.now() + settledMs;
    let last = '';
    let since = performance.now();
    for (;;) {
      const seqs = await Promise.all(this.nodes.map((node) => node.appliedSeq()));
      const text = seqs.join(' ');
      if (text !== last || new Set(seqs).size > 1 || seqs[0] === -1) since = performance.now();
      last = text;
      // Weights are computed a while after the last event, and are a record.
      if (performance.now() - since > 3_000) return seqs[0]!;
      if (performance.now() > until) throw new Error(`the nodes do not come to rest: ${text}; ${await this.told()}`);
      await delay(100);
    }
  }

  /** Undoes every fault that may be left: links, pauses, clocks, full disks, dead processes. */
  async heal(): Promise<void> {
    for (const disk of this.disks) disk.clear();
    for (const link of this.etcd.links) link.heal();
    for (let index = 0; index < this.etcd.count; index++) {
      const member = this.etcd.member(index);
      if (member.isPaused) member.resume();
      if (!member.isUp) this.etcd.startMember(index);
    }
    for (const node of this.nodes) {
      node.healLinks();
      if (node.isUp && node.child.isPaused) node.child.resume();
      node.setClock(0);
      if (!node.isUp && node.child.wasKilled) node.start();
    }
  }

  /** What each node says of itself, for a message. */
  async told(): Promise<string> {
    const all = await Promise.all(
      this.nodes.map(async (node) => {
        const health = await node.told();
        const end = node.isUp ? '' : `; ended: ${node.child.output.slice(-600)}`;
        return `${node.name}: ${health}${end}`;
      }),
    );
    return all.join(' | ');
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()));
    await this.watch.close();
    await this.etcd.close();
    for (const disk of this.disks) disk.unmount();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
