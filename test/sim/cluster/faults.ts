/** The faults of a simulated cluster. Each happens at once and ends by itself after a while. */
import { lastSeqOf } from '../../../src/group/recovery/recovery.js';
import { MemoryLog } from '../../support/memory-log.js';
import { MemorySnapshotStore } from '../../support/memory-snapshots.js';
import type { Random } from '../../support/random.js';
import type { VirtualTime } from '../../support/virtual-time.js';
import type { EtcdModel } from './etcd-model.js';
import type { NodeNetwork } from './sim-link.js';
import type { NodeDisk, SimNode } from './sim-node.js';

/** The parts of a simulated life that faults act on. */
interface FaultTarget {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly etcd: EtcdModel;
  readonly disks: readonly NodeDisk[];
  readonly nodes: readonly SimNode[];
  readonly cutLinks: Set<string>;
  readonly network: NodeNetwork;
  killNode(i: number, downMs: number): void;
  holdsLog(i: number): boolean;
}

/** A link that passes every call and every answer. */
export const goodLink = { lost: 0, late: 0, lateAnswers: 0, unanswered: 0 };

/** A network between nodes that carries every request and every answer. */
export const goodNetwork = { unconnected: 0, broken: 0, silent: 0, late: 0 };

/** Names the link between two nodes. */
export const linkOf = (one: number, other: number): string => [one, other].sort().join('-');

/** Undoes a fault after `minMs` to `maxMs`. */
function later(life: FaultTarget, minMs: number, maxMs: number, undo: () => void): void {
  life.time.later(undo, minMs + life.random.below(maxMs - minMs));
}

/** Chooses a node whose process runs, more often the leader; null if there is none. */
function victim({ nodes, random }: FaultTarget): number | null {
  const running = nodes.flatMap(({ isUp }, i) => (isUp ? [i] : []));
  const leader = running.find((i) => nodes[i]!.member.isLeader);
  if (leader !== undefined && random.below(2) === 0) return leader;
  return running.length === 0 ? null : random.pick(running);
}

function onNode(act: (life: FaultTarget, i: number) => void): (life: FaultTarget) => void {
  return (life) => {
    const i = victim(life);
    if (i !== null) act(life, i);
  };
}

export const faults = {
  kill: onNode((life, i) => life.killNode(i, life.random.below(6_000))),
  pause: onNode((life, i) => {
    const { process } = life.nodes[i]!;
    process.pause();
    later(life, 100, 8_000, () => process.resume());
  }),
  stop: onNode((life, i) => {
    const node = life.nodes[i]!;
    void node.stop().then(() => life.killNode(i, life.random.below(3_000)));
  }),
  step_down: onNode((life, i) => void life.nodes[i]!.member.stepDown('an operator asked')),
  replace: onNode((life, i) => {
    // At most one disk is lost while two other nodes hold the log.
    const others = life.nodes.filter((_, at) => at !== i && life.holdsLog(at));
    if (others.length < 2 || life.random.below(3) > 0) return;
    life.killNode(i, 500);
    const disk = life.disks[i]!;
    Object.assign(disk, { lostSeq: lastSeqOf(disk.log), log: new MemoryLog(), snapshots: new MemorySnapshotStore() });
  }),
  commit_fails: onNode((life, i) => {
    if (life.nodes.filter(({ hasLeft }) => hasLeft).length > 0) return;
    life.disks[i]!.commitFault = life.random.pick(['refuse', 'lose'] as const);
  }),
  disk_low: onNode((life, i) => {
    const node = life.nodes[i]!;
    void node.setDiskLow(true);
    later(life, 500, 6_000, () => void node.setDiskLow(false));
  }),
  clock_jump: onNode((life, i) => {
    const disk = life.disks[i]!;
    disk.clockAheadMs = life.random.pick([3 * 86_400_000, 5_000, -5_000]);
    later(life, 500, 6_000, () => {
      disk.clockAheadMs = 0;
    });
  }),
  cut: onNode((life, i) => {
    const { link } = life.disks[i]!;
    link.isCut = true;
    later(life, 200, 9_000, () => {
      link.isCut = false;
    });
  }),
  bad_link: onNode((life, i) => {
    const { link } = life.disks[i]!;
    const part = () => life.random.next() * 0.3;
    Object.assign(link, { lost: part(), late: part(), lateAnswers: part(), unanswered: part() });
    later(life, 1_000, 10_000, () => void Object.assign(link, goodLink));
  }),
  cut_nodes: (life) => {
    const link = linkOf(life.random.below(life.nodes.length), life.random.below(life.nodes.length));
    life.cutLinks.add(link);
    later(life, 500, 8_000, () => void life.cutLinks.delete(link));
  },
  bad_network: (life) => {
    const part = () => life.random.next() * 0.2;
    Object.assign(life.network, { unconnected: part(), broken: part(), silent: part(), late: part() });
    later(life, 1_000, 10_000, () => void Object.assign(life.network, goodNetwork));
  },
  member_down: (life) => stopMember(life, 'down'),
  member_paused: (life) => stopMember(life, 'paused'),
  leader_lost: (life) => {
    life.etcd.loseLeader();
    later(life, 300, 4_000, () => life.etcd.electLeader());
  },
  full: (life) => {
    life.etcd.store.isFull = true;
    later(life, 300, 4_000, () => {
      life.etcd.store.isFull = false;
    });
  },
  compaction: ({ etcd: { store } }) => {
    if (store.isCompactable) store.compact(String(store.revision));
  },
} satisfies Record<string, (life: FaultTarget) => void>;

export type FaultName = keyof typeof faults;

function stopMember(life: FaultTarget, state: 'down' | 'paused'): void {
  const at = life.random.below(life.etcd.members.length);
  if (life.etcd.members[at]!.state !== 'up') return;
  life.etcd.setMember(at, state);
  later(life, 300, 8_000, () => life.etcd.setMember(at, 'up'));
}
