/** The append log, as a group needs it. Bytes are opaque here: their format belongs to `core/records`. */

/** One batch of records as stored: the key is the sequence number of its first record. */
export interface StoredBatch {
  readonly firstSeq: number;
  readonly bytes: Uint8Array;
}

/** Reading the log. Every call is one short read transaction of its own; nothing stays open between calls. */
export interface LogReader {
  /** The newest batch, or undefined where the log is empty. */
  last(): StoredBatch | undefined;
  /** The batch with the greatest `firstSeq` at or below `seq`. The bytes are the caller's own copy. */
  at(seq: number): StoredBatch | undefined;
  /**
   * Batches with `firstSeq` at or above `firstSeq`, in order, until `limit` batches or about `maxBytes` are read (at
   * least one).
   */
  from(firstSeq: number, limit: number, maxBytes: number): StoredBatch[];
  /**
   * The same batches, each lent to `take`: its bytes hold until that returns. Throws what `take` throws. Tells how many
   * there were.
   */
  borrow(firstSeq: number, limit: number, maxBytes: number, take: (batch: StoredBatch) => void): number;
  close(): Promise<void>;
}

/** The single writer of a log, fenced by the owner's epoch. */
export interface LogWriter extends LogReader {
  /** This owner's epoch: one more than the last owner's. */
  readonly epoch: number;
  /**
   * Writes one new batch (null: none) and replaces earlier ones, all in one transaction, and resolves once no power cut
   * can take it back. Rejects with `OwnerLostError` where another owner took over: nothing was written, unless that one
   * found the batch on its way and took it in. With any other error the outcome is unknown. The caller must stop, and
   * leave it to recovery.
   */
  append(batch: StoredBatch | null, rewrites: readonly StoredBatch[]): Promise<void>;
  /**
   * Overwrites what replaced values left behind in free space, so that no erased byte stays in the file. Rejects with
   * `ScrubDeferredError` where that has to wait, or where `signal` ends it.
   */
  scrub(signal?: AbortSignal): Promise<void>;
}
