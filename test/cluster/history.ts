/**
 * The history of one run of the fault harness: every write with its outcome, every read with the last record that it
 * includes, and the fence of every slot. Times are ms of one monotonic clock.
 */

/**
 * - `acknowledged`: 201, or 409 with the peer's own event.
 * - `refused`: a final refusal (4xx). The event must never be in the log.
 * - `unknown`: no answer, or an answer that does not decide.
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

/** One answer of one node to one reader. A reader waits for an answer before the next read. */
export interface ReadOp {
  readonly reader: string;
  readonly node: string;
  readonly at: number;
  readonly appliedSeq: number;
}

/** A slot of the shared log in etcd. The fence is the create revision of the leader's key. */
export interface FencedSlot {
  readonly firstSeq: number;
  readonly fence: number;
}

/** One frame of a stream, in the order of arrival. */
export interface StreamOp {
  readonly reader: string;
  readonly seq: number;
  /** The node sent a new snapshot, so earlier frames do not bound `seq`. */
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
  /** Digest of the record's bytes, which are equal on every node. */
  readonly digest: string;
  /** The id of an accepted event that is not removed. */
  readonly eventId?: string | undefined;
}

/** The data of a node at the end. */
export interface FinalNode {
  readonly name: string;
  readonly log: readonly LogEntry[];
  /** Digest of the state after a replay of the log. */
  readonly stateDigest: string;
}
