/** Declares the append log, whose batches are opaque here, the snapshots and the disk as ports, and their errors. */
import type { SnapshotBlock } from '../../core/snapshot/snapshot.js';
import { NamedError } from '../../errors.js';

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
  /**
   * Resolves once the files of this node hold every batch appended before: in a cluster they follow by some ms, or by
   * the time that an erasure takes. Rejects with `StoreEndedError` if the node ends before.
   */
  stored(): Promise<void>;
  /** First record of the batches that the files do not hold yet; null if they hold all. */
  readonly storingFrom: number | null;
  /** Overwrites the free space of replaced values. Rejects with `ScrubDeferredError` if it must wait or is aborted. */
  scrub(signal?: AbortSignal): Promise<void>;
}

export interface SnapshotHeader {
  readonly version: number;
  readonly seq: number;
  /** Chain value (hex) of the batch that ends at `seq`. */
  readonly chain: string;
  readonly digest: string;
  readonly epoch: number;
}

/** Snapshots: whole images, each written once under a temporary name, then renamed into place. */
export interface SnapshotStore {
  /** Complete ones, newest first. */
  list(): number[];
  /** Resolves once synced and in place. Writes each block before it requests the next: blocks may share memory. */
  write(header: SnapshotHeader, blocks: Iterable<SnapshotBlock>): Promise<void>;
  /** Throws `DamagedError` if the header is missing, unreadable or fails its checksum. */
  readHeader(seq: number): SnapshotHeader;
  /**
   * In the order written, each checked against its CRC-32; throws `DamagedError` naming the block. The bytes are valid
   * until the next read of the store on this thread. The read transaction ends with the iteration.
   */
  borrowBlocks(seq: number): Iterable<SnapshotBlock>;
  remove(seq: number): Promise<void>;
  sweep(): Promise<void>;
}

/** Another process owns the data folder now. */
export class OwnerLostError extends NamedError {}

/** Stored bytes differ from those that were written. The message names the file, the block or the record. */
export class DamagedError extends NamedError {}

/** The next batch of the group's log does not follow the last one of this node. */
export class DivergedError extends NamedError {}

/** Stored data could not be read for a reason other than damage, so that its state is unknown. */
export class UnreadError extends NamedError {}

/** The disk is full; even reads may fail. */
export class DiskFullError extends UnreadError {}

/** The node ends, and its files do not hold what follows an erasure: it reads that again when it starts. */
export class StoreEndedError extends NamedError {}

/** The scrub could not be completed now. Nothing was lost: request it again later. */
export class ScrubDeferredError extends NamedError {}

/** In bytes. */
export interface DiskUse {
  /** Space that this process may still use, which excludes the space reserved for root. */
  readonly freeBytes: number;
  readonly logBytes: number;
  /** Includes left-overs. */
  readonly snapshotsBytes: number;
  /** 0 if there is no snapshot. */
  readonly newestSnapshotBytes: number;
}

export interface DiskGauge {
  /** One system call, which never waits for the disk. */
  freeBytes(): number;
  look(): Promise<DiskUse>;
}

export interface DiskReserve {
  /** Runs `act`, which can use the reserved space on a full disk. */
  during<T>(act: (isFull: boolean) => Promise<T>): Promise<T>;
}
