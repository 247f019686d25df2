/** A node among those of its group, as its callers and its operator see it. Times in ms since 1970. */
import type { Outcome } from '../errors.js';
import type { Scrubbed, WalSettings } from './ports/shared-log.js';

export type ClusterRole = 'leader' | 'follower' | 'joining' | 'left';

/** This node among those of its group, as of now. */
export interface ClusterHealth {
  readonly role: ClusterRole;
  /** Whether the group has a leader, as far as this node knows. */
  readonly hasLeader: boolean;
  /** The newest record that this node has applied. */
  readonly appliedSeq: number;
  /** ms since this node knew that it is up to date. */
  readonly stalenessMs: number;
  /** Whether that is too long for reads to be answered. */
  readonly isStale: boolean;
  /** Why it left; null where it did not. */
  readonly reason: string | null;
  /** What is left of this node's lease, in ms, by its own clock; 0 where it is over. */
  readonly leaseMs: number;
  /** Slots up to this record were deleted: a node that has less joins anew. */
  readonly floorSeq: number;
  /** How often this node began to lead since its start. */
  readonly takeovers: number;
  /** Commands that this node handed on to the leader. */
  readonly forwarded: number;
  /** The largest database of a member of etcd, as this node saw it while it led; 0: it did not look. */
  readonly etcdBytes: number;
}

/** A node of the group as its leader, or another node, sees it. Times in ms since 1970. */
export interface ClusterNodeStatus {
  readonly nodeId: string;
  readonly url: string;
  readonly role: string;
  readonly applied: number;
  readonly durable: number;
  readonly snapshot: number;
  readonly version: string;
  readonly started: number;
  readonly reason: string | null;
}

export interface ClusterStatus extends ClusterHealth {
  readonly nodeId: string;
  readonly clusterId: string;
  readonly leader: { readonly nodeId: string; readonly since: number; readonly fence: string } | null;
  readonly lastTakeover: { readonly at: number; readonly nodeId: string; readonly cause: string } | null;
  readonly nodes: readonly ClusterNodeStatus[];
  readonly members: readonly {
    readonly endpoint: string;
    readonly healthy: boolean;
    readonly leads: boolean;
    readonly version: string;
    readonly dbBytes: number;
    readonly dbBytesInUse: number;
  }[];
  readonly scrubbed: Scrubbed | null;
}

/** What the operator asks of the nodes of a group together. */
export interface ClusterOperations {
  status(): Promise<Outcome<ClusterStatus>>;
  /** The leader gives its place to another node. */
  stepDown(): Promise<Outcome<{ readonly nodeId: string }>>;
  /** Has every member of etcd delete the files that hold what was erased. `onProgress` hears how far that has come. */
  scrub(
    settings?: Partial<WalSettings>,
    onProgress?: (done: number, total: number) => void,
  ): Promise<Outcome<Omit<Scrubbed, 'at'>>>;
  /** Slots wait for this node no more; a node that lives cannot be forgotten. */
  forget(nodeId: string): Promise<Outcome<null>>;
}
