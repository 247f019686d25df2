/** Declares what callers and operator see of a cluster, and the operator's commands on it. Times: ms since 1970. */
import type { Outcome } from '../errors.js';
import type { NodeView, RefusedNode, Scrubbed, WalSettings } from './ports/shared-log.js';

/** The staleness of a node that does not know how old its state is, such as one that has just started. */
export const unknownStalenessMs = Number.MAX_SAFE_INTEGER;

export type ClusterRole = 'leader' | 'follower' | 'joining' | 'left';

export interface ClusterHealth {
  readonly role: ClusterRole;
  readonly hasLeader: boolean;
  readonly appliedSeq: number;
  /** ms since this node last knew that it was up to date; `unknownStalenessMs` if that is unknown. */
  readonly stalenessMs: number;
  readonly isStale: boolean;
  /** Why the node left, or may not join. */
  readonly reason: string | null;
  /** Remaining time of this node's lease in ms, by its own clock; 0 once the lease is over. */
  readonly leaseMs: number;
  /** Slots up to this record were deleted: a node that has fewer records must rejoin. */
  readonly floorSeq: number;
  readonly takeovers: number;
  readonly forwarded: number;
  /** Size of the largest member, as the leader saw it; 0 on other nodes. */
  readonly etcdBytes: number;
  /** The size at which members refuse to write, by the configuration of this node. */
  readonly etcdQuotaBytes: number;
  /** True if the last scrub of etcd's files failed or was incomplete, as known to the leader. */
  readonly isScrubIncomplete: boolean;
  readonly refusedNodes: number;
}

export interface MemberStatus {
  readonly endpoint: string;
  readonly leads: boolean;
  readonly version: string;
  readonly dbBytes: number;
  readonly dbBytesInUse: number;
  /** The alarms that this member knows of, such as `NOSPACE`, whichever member raised them. */
  readonly alarms: readonly string[];
}

export interface ClusterStatus
  extends Pick<ClusterHealth, 'role' | 'appliedSeq' | 'stalenessMs' | 'leaseMs' | 'floorSeq' | 'takeovers'> {
  readonly nodeId: string;
  readonly clusterId: string;
  readonly leader: { readonly nodeId: string; readonly since: number; readonly fence: string } | null;
  readonly lastTakeover: { readonly at: number; readonly nodeId: string; readonly cause: string } | null;
  readonly nodes: readonly NodeView[];
  readonly refused: readonly RefusedNode[];
  readonly members: readonly (MemberStatus & { readonly healthy: boolean })[];
  /** Null if there was no scrub yet; undefined if etcd does not answer. */
  readonly scrubbed: Scrubbed | null | undefined;
}

export interface ClusterOperations {
  status(): Promise<Outcome<ClusterStatus>>;
  stepDown(): Promise<Outcome<{ readonly nodeId: string }>>;
  /** Has every member of etcd delete the files that contain erased data. */
  scrub(
    settings?: Partial<WalSettings>,
    onProgress?: (done: number, total: number) => void,
  ): Promise<Outcome<Omit<Scrubbed, 'at'>>>;
  /** Slots no longer wait for this node; a living node cannot be forgotten. */
  forget(nodeId: string): Promise<Outcome<null>>;
}
