/**
 * The log that the nodes of a group share, as a group needs it: slots in order, appended by the leader alone, and who
 * leads. Bytes of batches are opaque here.
 */

/** The records of a batch that a turn replaced; what stands in their place follows from each record. */
export type Redaction =
  | { readonly type: 'records'; readonly firstSeq: number; readonly seqs: readonly number[] }
  /** The new batch itself, where it does not follow from the old one. */
  | { readonly type: 'bytes'; readonly firstSeq: number; readonly bytes: Uint8Array };

/** One batch of the shared log, named by the sequence number of its first record. */
export interface Slot {
  readonly firstSeq: number;
  readonly bytes: Uint8Array;
  /** Earlier batches that are rewritten along with it. */
  readonly redactions: readonly Redaction[];
}

/** The right to append, as long as the leader's key is the one that was written then. */
export interface Fence {
  /** Grows from leader to leader. */
  readonly revision: string;
}

export interface LeaderView {
  readonly nodeId: string;
  readonly url: string;
  /** ms since 1970, by the leader's clock. */
  readonly since: number;
  readonly fence: Fence;
}

/** What the shared log held, all as of one moment that is not before the call. */
export interface SharedView {
  readonly leader: LeaderView | null;
  /** Slots from the one that was asked for, in order; empty where it is not there yet. */
  readonly slots: readonly Slot[];
  /** Up to this record slots were deleted. */
  readonly trimmed: number;
  readonly revision: string;
}

/** A node as the others see it; its key goes with its lease. */
export interface NodeView {
  readonly nodeId: string;
  readonly url: string;
  readonly role: string;
  readonly applied: number;
  readonly durable: number;
  readonly snapshot: number;
  readonly version: string;
  /** The newest format of records that it reads. */
  readonly format: number;
  readonly started: number;
  readonly reason: string | null;
}

/** No majority, or no member at all, answered in time: nothing is known. */
export class SharedLogUnavailableError extends Error {
  override readonly name = 'SharedLogUnavailableError';
}
