/** Declares the store of snapshots as a port. `core/snapshot` defines the format of blocks. */
import type { SnapshotBlock } from '../../core/snapshot/snapshot.js';

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
