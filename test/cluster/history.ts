/**
 * What happened in one run of the cluster harness, as its clients saw it: every write with its outcome, every read with
 * the record that it was as of, every fence that a leader wrote under. Times are of one monotonic clock, in ms.
 */

/**
 * - `acknowledged`: 201, or 409 with the peer's own event.
 * - `refused`: a final refusal (4xx): the event must never appear.
 * - `unknown`: no answer, or one that leaves it open.
 */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

export interface EventOp {
  readonly id: string;
  readonly player: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: Outcome;
}

/** A withdrawal names an event id, an erasure a player. */
export interface RemovalOp {
  readonly kind: 'withdraw' | 'erase';
  readonly target: string;
  readonly outcome: Outcome;
}

/** One answer of one node to one reader; a reader sends one read after the other. */
export interface ReadOp {
  readonly reader: string;
  readonly node: string;
  readonly at: number;
  readonly appliedSeq: number;
}

/** A slot of the shared log as etcd saw it: the fence is the revision at which its leader's key was made. */
export interface FencedSlot {
  readonly firstSeq: number;
  readonly fence: number;
}

/** What a streaming client saw, in order. */
export interface StreamOp {
  readonly reader: string;
  readonly seq: number;
  /** The node sent everything anew: what follows holds by itself. */
  readonly isReset: boolean;
}

export class History {
  readonly events: EventOp[] = [];
  readonly removals: RemovalOp[] = [];
  readonly reads: ReadOp[] = [];
  readonly streams: StreamOp[] = [];
  readonly slots: FencedSlot[] = [];
}

/** One record of a node's final log. */
export interface LogEntry {
  readonly seq: number;
  readonly type: string;
  /** The record's bytes as a digest: equal on every node. */
  readonly digest: string;
  /** Of an accepted event that is not removed. */
  readonly eventId?: string | undefined;
}

/** What a node held at the end. */
export interface FinalNode {
  readonly name: string;
  readonly log: readonly LogEntry[];
  /** Of the state that the log alone leads to. */
  readonly stateDigest: string;
}
