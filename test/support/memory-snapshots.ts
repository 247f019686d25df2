/** The snapshots' port in memory, for the simulation. */
import type { SnapshotBlock } from '../../src/core/snapshot/snapshot.js';
import { DamagedError, type SnapshotHeader, type SnapshotStore } from '../../src/group/ports/storage.js';

interface MemorySnapshot {
  readonly header: SnapshotHeader;
  readonly blocks: readonly SnapshotBlock[];
}

export class MemorySnapshotStore implements SnapshotStore {
  readonly #snapshots = new Map<number, MemorySnapshot>();
  readonly #damaged = new Set<number>();
  readonly #altered = new Set<number>();

  list(): number[] {
    return [...this.#snapshots.keys()].sort((a, b) => b - a);
  }

  async write(header: SnapshotHeader, blocks: Iterable<SnapshotBlock>): Promise<void> {
    const copied = Array.from(blocks, copyOf);
    this.#snapshots.set(header.seq, { header: { ...header }, blocks: copied });
    this.#damaged.delete(header.seq);
    this.#altered.delete(header.seq);
  }

  readHeader(seq: number): SnapshotHeader {
    return { ...this.#snapshot(seq).header };
  }

  *borrowBlocks(seq: number): Iterable<SnapshotBlock> {
    const { blocks } = this.#snapshot(seq);
    for (const block of blocks) {
      if (this.#damaged.has(seq)) throw new DamagedError(`snapshot ${seq}: block ${block.key} fails its checksum`);
      yield copyOf(block);
    }
  }

  async remove(seq: number): Promise<void> {
    this.#snapshots.delete(seq);
  }

  async sweep(): Promise<void> {}

  /** Makes the blocks of a snapshot fail their checksum, as a flipped bit would. */
  damage(seq: number): void {
    this.#damaged.add(seq);
  }

  /** Changes the content of a snapshot under valid checksums, as a fault in its writer would. */
  alter(seq: number): void {
    const last = this.#snapshot(seq).blocks.at(-1)!;
    last.bytes[last.bytes.length - 10]! ^= 1;
    this.#altered.add(seq);
  }

  /** Returns whether a snapshot was neither damaged nor altered. */
  holds(seq: number): boolean {
    return !this.#damaged.has(seq) && !this.#altered.has(seq);
  }

  /** Returns the blocks as stored, damaged or not. */
  stored(seq: number): readonly SnapshotBlock[] {
    return this.#snapshot(seq).blocks;
  }

  #snapshot(seq: number): MemorySnapshot {
    const snapshot = this.#snapshots.get(seq);
    if (snapshot === undefined) throw new DamagedError(`snapshot ${seq}: does not exist`);
    return snapshot;
  }
}

const copyOf = (block: SnapshotBlock): SnapshotBlock => ({ key: block.key, bytes: new Uint8Array(block.bytes) });
