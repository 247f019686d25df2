/** Declares the append log as a port: its reader and its single writer. The bytes of batches are opaque here. */

/** The key is the sequence number of its first record. */
export interface StoredBatch {
  readonly firstSeq: number;
  readonly bytes: Uint8Array;
}

/** Reads the log. Every call is a short read transaction of its own; nothing stays open between calls. */
export interface LogReader {
  last(): StoredBatch | undefined;
  /** Returns the batch with the greatest `firstSeq` at or below `seq`. The bytes are a copy that the caller owns. */
  at(seq: number): StoredBatch | undefined;
  /** Returns batches from `firstSeq` on, in order: up to `limit`, or about `maxBytes`, but at least one. */
  from(firstSeq: number, limit: number, maxBytes: number): StoredBatch[];
  /** Like `from`, but as views that are valid until `take` returns. Throws what `take` throws. Returns their number. */
  borrow(firstSeq: number, limit: number, maxBytes: number, take: (batch: StoredBatch) => void): number;
  close(): Promise<void>;
}

/** The single writer of a log, fenced by the owner's epoch. Its reads find what is stored. */
export interface LogWriter extends LogReader {
  /** This owner's epoch: one more than the last owner's. */
  readonly epoch: number;
  /**
   * Writes one new batch (null: none) and replaces earlier ones, all in one transaction, and resolves once no power cut
   * can undo the batch. In a cluster, the shared log has the batch then, and `stored` waits for the file of this node.
   * Rejects with `OwnerLostError` if another owner took over: nothing was written, unless that owner found the batch in
   * transit and applied it. With any other error the outcome is unknown: the caller must stop and leave it to recovery.
   */
  append(batch: StoredBatch | null, rewrites: readonly StoredBatch[]): Promise<void>;
  /** Resolves once the files of this node hold every batch appended before: in a cluster they follow by some ms. */
  stored(): Promise<void>;
  /** Overwrites the free space of replaced values. Rejects with `ScrubDeferredError` if it must wait or is aborted. */
  scrub(signal?: AbortSignal): Promise<void>;
}
