/** The store of snapshots, as a group needs it. Blocks are opaque here: their format belongs to `core/snapshot`. */
import type { SnapshotBlock } from '../../core/snapshot/snapshot.js';

export interface SnapshotHeader {
  /** Format version of the header and blocks. */
  readonly version: number;
  /** The state is the fold of all records up to and including this one. */
  readonly seq: number;
  /** Chain value (hex) of the batch that ends at `seq`. */
  readonly chain: string;
  /** Digest (hex) of the state, as `core/digest` computes it. */
  readonly digest: string;
  /** Owner epoch under which it was made. */
  readonly epoch: number;
}

/** Snapshots: whole images, each written once under a temporary name, then renamed into place. */
export interface SnapshotStore {
  /** Sequence numbers of the complete snapshots, newest first. Left-overs of interrupted writes are not listed. */
  list(): number[];
  /**
   * Resolves once the snapshot is synced and in place. Replaces one with the same `seq`. A block is done with before
   * the next is asked for, so that its memory can be that one's.
   */
  write(header: SnapshotHeader, blocks: Iterable<SnapshotBlock>): Promise<void>;
  /** Throws `DamagedError` where the header is missing, unreadable or fails its checksum. */
  readHeader(seq: number): SnapshotHeader;
  /**
   * Blocks in the order written, each checked against its CRC-32; throws `DamagedError` naming the block. The bytes of
   * a block are lent: the next one, or any other read of the store on this thread, overwrites them. Ends the read
   * transaction whenever the iteration ends.
   */
  borrowBlocks(seq: number): Iterable<SnapshotBlock>;
  remove(seq: number): Promise<void>;
  /** Removes left-overs of interrupted writes. */
  sweep(): Promise<void>;
}
