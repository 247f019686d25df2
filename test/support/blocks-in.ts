import type { SnapshotBlock } from '../../src/core/snapshot/snapshot.js';
import type { SnapshotStore } from '../../src/group/ports/storage.js';

/** Returns copies of a snapshot's blocks. */
export function blocksIn(store: Pick<SnapshotStore, 'borrowBlocks'>, seq: number): SnapshotBlock[] {
  return Array.from(store.borrowBlocks(seq), ({ key, bytes }) => ({ key, bytes: new Uint8Array(bytes) }));
}
