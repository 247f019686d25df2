/**
 * Declares the log that the nodes of a cluster share, as a port: ordered slots, which only the leader appends, the
 * leader itself, and the status of the nodes.
 */
import { NamedError } from '../../errors.js';
import { OwnerLostError, type StoredBatch } from './storage.js';

/** The records of a stored batch that a turn replaced. The new content of each record follows from its old content. */
export type Redaction =
  | { readonly type: 'records'; readonly firstSeq: number; readonly seqs: readonly number[] }
  /** The new batch itself, if it does not follow from the old one. */
  | { readonly type: 'bytes'; readonly firstSeq: number; readonly bytes: Uint8Array };

export interface Slot extends StoredBatch {
  readonly redactions: readonly Redaction[];
}

/** The right to append. It lasts as long as the leader's key still has this create revision. */
export interface Fence {
  readonly revision: string;
}

export interface Scrubbed {
  readonly at: number;
  readonly complete: boolean;
  readonly detail: string;
  /**
   * Hex of random bytes that the scrub wrote before etcd began new write-ahead logs: a file that still contains them
   * may contain erased data. Null if no scrub got so far yet.
   */
  readonly marker: string | null;
}

export interface WalSettings {
  /** `--snapshot-count`. */
  readonly snapshotEntries: number;
  /** `--max-wals`. */
  readonly files: number;
}

export interface LeaderView {
  readonly nodeId: string;
  readonly url: string;
  /** ms since 1970, by the leader's clock. */
  readonly since: number;
  readonly cause: string;
  readonly fence: Fence;
}

export type Resignation = Pick<LeaderView, 'fence' | 'cause'>;

/** As of one time, which is not before the call. */
export interface SharedView {
  readonly leader: LeaderView | null;
  /** Slots from the requested one on, in order; empty if the requested slot does not exist yet. */
  readonly slots: readonly Slot[];
  /** Slots up to this record were deleted. */
  readonly trimmed: number;
  readonly nodes: readonly NodeView[];
  /** Every node reads it. */
  readonly format: number;
  readonly revision: string;
}

/** A node as the others see it; its key disappears with its lease. */
export interface NodeView {
  readonly nodeId: string;
  readonly url: string;
  readonly role: string;
  readonly applied: number;
  readonly durable: number;
  readonly snapshot: number;
  readonly version: string;
  /** The newest format that the node reads. */
  readonly format: number;
  readonly started: number;
  readonly reason: string | null;
  /** Record up to which the leader has computed weights, published or not. */
  readonly weights?: { readonly basedOnSeq: number; readonly computedAt: number | null };
}

export interface RefusedNode extends Pick<NodeView, 'nodeId' | 'url'> {
  readonly reason: string;
}

/** No majority, or no member at all, answered in time: the outcome is unknown. */
export class SharedLogUnavailableError extends NamedError {}

/** The shared log ends before the records of the node that appends: etcd was restored from an older copy. */
export class LogLostError extends OwnerLostError {
  /** `firstSeq`: the first record of the slot that was refused. */
  constructor(firstSeq: number) {
    const page = 'see "Loss of two machines" in docs/operating/cluster.md';
    super(`etcd lacks the records before ${firstSeq}, which this node has; ${page}`);
  }
}

/** Every call may reject with `SharedLogUnavailableError`. */
export interface SharedLog {
  /** Resolves with the leader and the slots from record `firstSeq` on, as of one time after the call began. */
  view(firstSeq: number, limit?: number, timeoutMs?: number): Promise<SharedView>;
  /** Calls `heard` with the slots written from `revision` on, and `ended` once if the watch ends by itself. */
  watch(revision: string, heard: (slots: readonly Slot[]) => void, ended: (error: unknown) => void): () => void;
  /** Sends further calls to another member of etcd, because the present one seems to hang. */
  rotate(): void;
  /** Prefers the member that leads etcd, because every other one passes a write on to it. Null: any member. */
  prefer(member: number | null): void;
  grantLease(id: string, ttlS: number): Promise<void>;
  /** Resolves with the remaining seconds of the lease; 0 once it is over. */
  keepAlive(id: string, timeoutMs: number): Promise<number>;
  revokeLease(id: string): Promise<void>;
  /** Resolves with null if another node leads, or if that of `lease` has no place among the nodes. */
  campaign(leader: Omit<LeaderView, 'fence'>, lease: string): Promise<Fence | null>;
  /** Gives leadership up if the fence is still valid, and records the cause for the next leader. */
  resign(resignation: Resignation): Promise<void>;
  resigned(): Promise<Resignation | null>;
  /** Permits records of this format from now on. Rejects with `OwnerLostError` under an old fence. */
  raiseFormat(fence: Fence, format: number): Promise<void>;
  /** Resolves with whether this node has the secret of the group. The first node determines the secret. */
  hasSecret(): Promise<boolean>;
  /** Keeps the node's place as long as its lease. Resolves with the holder, and writes nothing, if it is another. */
  putNode(node: NodeView, lease: string): Promise<NodeView | null>;
  nodes(): Promise<NodeView[]>;
  /** Reports that a node is refused. The report ends with the lease, or once the node has its place. */
  putRefused(node: RefusedNode, lease: string): Promise<void>;
  refused(): Promise<RefusedNode[]>;
  scrubbed(): Promise<Scrubbed | null>;
  putScrubbed(ended: Scrubbed): Promise<void>;
  /** The newest erased record that no scrub has covered yet. */
  scrubDue(): Promise<number | null>;
  putScrubDue(seq: number): Promise<void>;
  /** Notes that a scrub has covered record `seq`. Changes nothing if another record is due meanwhile. */
  clearScrubDue(seq: number): Promise<void>;
  slotSeqs(from: number, limit: number): Promise<number[]>;
  /** Deletes the slots before the one at `firstSeq`, which stays. Rejects with `OwnerLostError` under an old fence. */
  trim(fence: Fence, firstSeq: number, floor: number): Promise<void>;
  /** Makes etcd forget values that have been replaced or deleted. A trim includes this. */
  compact(): Promise<void>;
}
