/**
 * Three members of etcd and the nodes of one group on loopback, with a proxy on every link between them. It starts,
 * heals and stops them; the faults are elsewhere.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { EtcdMembers } from '../../bench/cluster/etcd-members.js';
import { awaitLeader, groupId, settled, startGroup } from '../../bench/cluster/node-group.js';
import { temporaryFolder } from '../../bench/ending.js';
import { SmallDisk } from '../faults/small-disk.js';
import { ClusterNode } from './nodes.js';
import { SlotWatch } from './slot-watch.js';
import { TcpProxy } from './tcp-proxy.js';

/** The size of a node's own disk in MB, if this machine permits the harness to mount one. */
const diskMb = 1_024;
const nodeCount = 3;

/** Flags that make a member purge its write-ahead log soon, and the settings of `ptf cluster scrub` that match them. */
export const walSettings = { snapshotCount: '2000', maxWals: '1' };

/**
 * Members write small files and remove old ones soon, because the byte search after an erasure reads all of them.
 * Elections are slower than by default, because the harness runs on busy machines; etcd then grants no lease below 3 s.
 */
const etcdFlags = [
  ['--snapshot-count', walSettings.snapshotCount, '--max-snapshots', '1', '--max-wals', walSettings.maxWals],
  ['--heartbeat-interval', '200', '--election-timeout', '2000'],
].flat();

export interface GroupOptions {
  /** Additional variables of every node. */
  readonly env?: Readonly<Record<string, string>>;
  readonly quotaBytes?: number;
  /** Gives each node a small file system of its own, if this machine permits it. */
  readonly smallDisks?: boolean;
}

export class Group {
  readonly etcd: EtcdMembers;
  readonly nodes: readonly ClusterNode[];
  /** The watch starts before the first node, so that it sees every slot before etcd compacts it. */
  readonly watch: SlotWatch;
  /** The disk of each node; empty without small disks. */
  readonly disks: readonly SmallDisk[];
  readonly #folder: ReturnType<typeof temporaryFolder>;
  /** Links between the members of etcd. */
  readonly #memberLinks: readonly TcpProxy[];

  private constructor(
    folder: ReturnType<typeof temporaryFolder>,
    etcd: EtcdMembers,
    memberLinks: readonly TcpProxy[],
    nodes: readonly ClusterNode[],
    disks: readonly SmallDisk[],
  ) {
    this.#folder = folder;
    this.etcd = etcd;
    this.#memberLinks = memberLinks;
    this.nodes = nodes;
    this.disks = disks;
    this.watch = new SlotWatch(etcd.endpoints, `/ptf/${groupId}/`);
  }

  /** Starts members and nodes, and waits until the group is settled. */
  static async start({ env = {}, quotaBytes, smallDisks = false }: GroupOptions = {}): Promise<Group> {
    const folder = temporaryFolder('ptf-cluster-');
    const memberLinks: TcpProxy[] = [];
    const proxyTo = async (port: number) => {
      const link = await TcpProxy.open(port);
      memberLinks.push(link);
      return link.url;
    };
    const quota = quotaBytes === undefined ? {} : { quotaBytes };
    const etcd = await EtcdMembers.start({ flags: etcdFlags, proxyTo, ...quota });
    const disks: SmallDisk[] = [];
    const nodes: ClusterNode[] = [];
    for (let i = 0; i < nodeCount; i++) {
      const disk = smallDisks ? SmallDisk.mount(diskMb) : null;
      if (disk !== null) disks.push(disk);
      const dir = join(disk?.path ?? folder.path, `n${i}`);
      mkdirSync(dir, { recursive: true });
      nodes.push(await ClusterNode.make({ name: `n${i}`, dir, etcdPorts: etcd.clientPorts, env }));
    }
    const group = new Group(folder, etcd, memberLinks, nodes, disks.length === nodeCount ? disks : []);
    try {
      await startGroup(nodes);
    } catch (error) {
      await group.close();
      throw error;
    }
    return group;
  }

  awaitLeader(): Promise<ClusterNode> {
    return awaitLeader(this.nodes);
  }

  /**
   * Undoes every fault that may be left: links, pauses, clocks, full disks, dead processes. Waits until all is settled.
   */
  async heal(): Promise<void> {
    for (const disk of this.disks) disk.clear();
    for (const link of this.#memberLinks) link.heal();
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
    await settled(this.nodes);
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()));
    await this.watch.close();
    await this.etcd.stop();
    await Promise.all(this.#memberLinks.map((link) => link.close()));
    for (const disk of this.disks) disk.unmount();
    this.#folder.remove();
  }
}
