/** The faults of docs/operating/cluster.md. Each is injected into a settled group and undone again. */
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../support/random.js';
import { clearDatabase, fillDatabase, leadingMember, replaceMember } from './etcd-faults.js';
import type { Group } from './group.js';
import type { ClusterNode } from './nodes.js';

export interface ClusterFault {
  readonly name: string;
  /** The row of the page's table that contains the fault; null if the table does not contain it. */
  readonly row: string | null;
  /** The longest time without an acknowledged write that the page allows. */
  readonly writePauseMsMax: number;
  /** Whether the fault can be injected into this group. */
  readonly isPossible: (group: Group) => boolean;
  /** Injects the fault, lets it last, and undoes it. The caller then calls `heal` of the group. */
  run(group: Group, random: Random): Promise<void>;
}

/** Longer than a lease, so that a leader that is cut off loses its lease. */
const outageMs = 6_000;
const pauseMs = 5_000;
/** Longer than an election of etcd, which begins at most 4 s after a member ended. */
const memberOutageMs = 4_000;
const clockJumpMs = 3_600_000;
const slowMs = 40;
const corruptedBytes = 64 * 1024;

const silences = ['silent', 'to-silent', 'back-silent', 'cut'] as const;

async function follower(group: Group, random: Random): Promise<ClusterNode> {
  const leader = await group.awaitLeader();
  return random.pick(group.nodes.filter((node) => node !== leader && node.isUp));
}

async function etcdLeader(group: Group): Promise<number> {
  for (;;) {
    const leader = await leadingMember(group.etcd);
    if (leader !== undefined) return leader;
    await delay(100);
  }
}

async function restart(node: ClusterNode): Promise<void> {
  if (node.child.wasKilled && !node.isUp) node.start();
  await node.ready();
}

/** Without `isPossible` the fault can be injected into any group. */
function fault(
  name: string,
  row: string | null,
  writePauseMsMax: number,
  run: ClusterFault['run'],
  isPossible: ClusterFault['isPossible'] = () => true,
): ClusterFault {
  return { name, row, writePauseMsMax, run, isPossible };
}

export const faults: readonly ClusterFault[] = [
  fault('leader-kill', 'leader process dies or hangs', 6_000, async (group) => {
    const leader = await group.awaitLeader();
    await leader.child.kill();
    await delay(outageMs / 2);
    await restart(leader);
  }),
  fault('leader-pause', 'leader process dies or hangs', 6_000, async (group) => {
    const leader = await group.awaitLeader();
    leader.child.pause();
    await delay(pauseMs);
    leader.child.resume();
  }),
  fault('follower-kill', 'follower dies', 2_000, async (group, random) => {
    const node = await follower(group, random);
    await node.child.kill();
    await delay(outageMs / 2);
    await restart(node);
  }),
  fault('member-kill', 'one etcd member dies', 6_000, async ({ etcd }, random) => {
    const index = random.below(etcd.count);
    await etcd.member(index).kill();
    await delay(memberOutageMs);
    etcd.startMember(index);
    await etcd.healthy();
  }),
  fault('member-leader-kill', 'one etcd member dies', 6_000, async (group) => {
    const index = await etcdLeader(group);
    await group.etcd.member(index).kill();
    await delay(memberOutageMs);
    group.etcd.startMember(index);
    await group.etcd.healthy();
  }),
  fault('majority-pause', "etcd's majority is gone", 16_000, async ({ etcd }, random) => {
    const spared = random.below(etcd.count);
    const others = etcd.names.map((_, index) => index).filter((index) => index !== spared);
    for (const index of others) etcd.member(index).pause();
    await delay(pauseMs);
    for (const index of others) etcd.member(index).resume();
    await etcd.healthy();
  }),
  fault('leader-cut', 'leader cut off from etcd, not from callers', 8_000, async (group, random) => {
    const leader = await group.awaitLeader();
    leader.cutFromEtcd(random.pick(silences));
    await delay(outageMs);
    leader.healLinks();
  }),
  fault(
    'quota',
    "etcd's quota reached",
    20_000,
    async (group) => {
      const { etcd } = group;
      // Above the part at which the leader refuses writes, below the one at which etcd does.
      const filled = await fillDatabase(etcd, '/ballast/', 0.85);
      await delay(pauseMs);
      const { body } = await (await group.awaitLeader()).ask('GET', '/health');
      const { reason } = (body.details ?? {}) as { readonly reason?: string };
      if (reason !== 'log_full') throw new Error(`the health of the leader is not log_full: ${JSON.stringify(body)}`);
      await clearDatabase(etcd, '/ballast/', filled);
      await etcd.healthy();
    },
    ({ etcd }) => etcd.quotaBytes !== undefined,
  ),
  fault(
    'disk-full',
    "a node's disk is full or damaged",
    10_000,
    async (group, random) => {
      const place = random.below(group.nodes.length);
      const disk = group.disks[place]!;
      await disk.fillBeside();
      await delay(outageMs);
      disk.clear();
    },
    ({ disks }) => disks.length > 0,
  ),
  fault('block-corrupted', "a node's disk is full or damaged", 6_000, async (group, random) => {
    const node = await follower(group, random);
    await node.child.kill();
    corrupt(node.logFile, random);
    node.start();
    // The node may refuse to start, leave, or join anew. The end of the run checks what the node serves in each case.
    await node.ready(20_000).catch(async () => {
      await node.child.kill();
      node.wipe();
      await restart(node);
    });
  }),
  fault('clock-jump', 'clock jumps', 4_000, async (group, random) => {
    const node = random.pick([await group.awaitLeader(), await follower(group, random)]);
    node.setClock(random.pick([-clockJumpMs, clockJumpMs]));
    await delay(pauseMs);
    node.setClock(0);
  }),
  fault('slow-links', null, 6_000, async (group) => {
    const leader = await group.awaitLeader();
    for (const link of [leader.front, ...leader.etcdLinks]) link.slow(slowMs);
    await delay(pauseMs);
  }),
  fault('follower-cut', null, 2_000, async (group, random) => {
    const node = await follower(group, random);
    node.cutFromEtcd(random.pick(silences));
    node.front.set('silent');
    await delay(outageMs);
  }),
  fault('node-replaced', null, 6_000, async (group, random) => {
    const node = random.pick(group.nodes);
    await node.child.kill();
    node.wipe();
    await restart(node);
  }),
  fault('member-replaced', null, 10_000, async ({ etcd }, random) => {
    await replaceMember(etcd, random.below(etcd.count));
  }),
  fault('rolling-restart', null, 6_000, async (group) => {
    const leader = await group.awaitLeader();
    for (const node of [...group.nodes.filter((other) => other !== leader), leader]) {
      await node.child.kill('SIGTERM');
      await restart(node);
    }
  }),
];

/** The faults that the long form alternates. */
export const takeoverFaults = faults.filter(({ name }) => name === 'leader-kill' || name === 'leader-pause');

/** Overwrites bytes in the middle of a file, which contains data there. */
function corrupt(path: string, random: Random): void {
  const { size } = statSync(path);
  const descriptor = openSync(path, 'r+');
  try {
    const at = Math.floor((size * (20 + random.below(60))) / 100);
    writeSync(descriptor, Buffer.alloc(Math.min(corruptedBytes, size - at), 0xa5), 0, undefined, at);
  } finally {
    closeSync(descriptor);
  }
}
