/** Declares the store of snapshots as a port. Blocks are opaque here; `core/snapshot` defines their format. */
import type { SnapshotBlock } from '../../core/snapshot/snapshot.js';

export interface SnapshotHeader {
  /** Format version of the header and blocks. */
  readonly version: number;
  /** The last record of the state. */
  readonly seq: number;
  /** Chain value (hex) of the batch that ends at `seq`. */
  readonly chain: string;
  /** Digest (hex) of the state, as `core/snapshot/state-digest` computes it. */
  readonly digest: string;
  /** Owner epoch under which the snapshot was written. */
  readonly epoch: number;
}

/** Snapshots: whole images, each written once under a temporary name, then renamed into place. */
export interface SnapshotStore {
  /** Sequence numbers of the complete snapshots, newest first, without left-overs of interrupted writes. */
  list(): number[];
  /**
   * Writes a snapshot and resolves once it is synced and in place. Replaces one with the same `seq`. Each block is
   * written before the next is requested, so that blocks may share memory.
   */
  write(header: SnapshotHeader, blocks: Iterable<SnapshotBlock>): Promise<void>;
  /** Throws `DamagedError` if the header is missing, unreadable or fails its checksum. */
  readHeader(seq: number): SnapshotHeader;
  /**
   * Yields the blocks in the order written, each checked against its CRC-32; throws `DamagedError` naming the block.
   * The bytes of a block are a borrowed view: the next one, or any other read of the store on this thread, overwrites
   * them. The read transaction ends with the iteration.
   */
  borrowBlocks(seq: number): Iterable<SnapshotBlock>;
  remove(seq: number): Promise<void>;
  sweep(): Promise<void>;
}
