/**
 * The stores of a simulated node: the in-memory adapters, with every write under way until its lane is let on, and what
 * a real disk keeps of replaced bytes.
 */
import type { SnapshotBlock } from '../../src/core/snapshot/snapshot.js';
import {
  OwnerLostError,
  ScrubDeferredError,
  type SnapshotHeader,
  type SnapshotStore,
  type StoredBatch,
} from '../../src/group/ports/storage.js';
import { type AppendFault, type MemoryLog, MemoryLogWriter } from '../support/memory-log.js';
import type { MemorySnapshotStore } from '../support/memory-snapshots.js';
import { Difference } from './difference.js';
import type { Process } from './world.js';

/** The content of the disk, whichever process runs on it. */
export interface Disk {
  readonly log: MemoryLog;
  readonly snapshots: MemorySnapshotStore;
  /** Bytes that were replaced in the log and not overwritten since. */
  freed: Uint8Array[];
  /** Bytes of snapshots whose writing a crash cut short. */
  leftOvers: Uint8Array[];
  nextAppend: AppendFault;
  /** True if the next scrub is deferred. */
  deferScrub: boolean;
}

const everything = Number.POSITIVE_INFINITY;

/** All bytes that are stored, for a search. */
export function storedBytes({ log, snapshots, freed, leftOvers }: Disk): Buffer {
  const batches = log.from(0, everything, everything).map(({ bytes }) => bytes);
  const blocks = snapshots.list().flatMap((seq) => snapshots.stored(seq).map(({ bytes }) => bytes));
  return Buffer.concat([...batches, ...blocks, ...freed, ...leftOvers]);
}

/** Damages one of the snapshots, counted from the newest; false where there is none. */
export async function damageSnapshot(
  { snapshots }: Disk,
  which: number,
  how: 'flip' | 'alter' | 'lose',
): Promise<boolean> {
  const seq = snapshots.list()[which];
  if (seq === undefined) return false;
  if (how === 'flip') snapshots.damage(seq);
  else if (how === 'alter') snapshots.alter(seq);
  else await snapshots.remove(seq);
  return true;
}

/** A process that was taken for dead wakes up, and goes on with its write: the log is another's. */
export async function mustBeFenced(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (error instanceof OwnerLostError) return;
    throw error;
  }
  throw new Difference('fencing', 'a former owner wrote into the log');
}

export class SimLog extends MemoryLogWriter {
  readonly #disk: Disk;
  readonly #process: Process;
  /** The write that is not done yet. */
  underWay: (() => Promise<void>) | null = null;

  constructor(disk: Disk, process: Process) {
    super(disk.log, disk.log.acquire().epoch);
    this.#disk = disk;
    this.#process = process;
  }

  override append(batch: StoredBatch | null, rewrites: readonly StoredBatch[]): Promise<void> {
    const write = () => this.#write(batch, rewrites);
    this.underWay = write;
    // A crash may come before the commit is on disk or after, but finds it whole: it is one transaction.
    const dying = () => void write().catch(() => undefined);
    const act = () => {
      this.underWay = null;
      return write();
    };
    return this.#process.work('log', 'append', act, dying);
  }

  async #write(batch: StoredBatch | null, rewrites: readonly StoredBatch[]): Promise<void> {
    const before = rewrites.map(({ firstSeq }) => this.at(firstSeq)!.bytes);
    try {
      await super.append(batch, rewrites);
    } finally {
      for (const [i, { firstSeq }] of rewrites.entries()) {
        const now = this.at(firstSeq)!.bytes;
        if (Buffer.compare(now, before[i]!) !== 0) this.#disk.freed.push(before[i]!);
      }
    }
  }

  override scrub(signal?: AbortSignal): Promise<void> {
    return this.#process.work('scrub', 'scrub', () => {
      if (this.#disk.deferScrub || signal?.aborted === true) {
        this.#disk.deferScrub = false;
        throw new ScrubDeferredError('a reader stays on old pages');
      }
      this.#disk.freed = [];
    });
  }
}

/** The snapshots as the node and its replica see them. */
export class SimSnapshots implements SnapshotStore {
  readonly #disk: Disk;
  readonly #process: Process;

  constructor(disk: Disk, process: Process) {
    this.#disk = disk;
    this.#process = process;
  }

  list(): number[] {
    return this.#disk.snapshots.list();
  }

  write(header: SnapshotHeader, blocks: Iterable<SnapshotBlock>): Promise<void> {
    const copied = Array.from(blocks, ({ key, bytes }) => ({ key, bytes: new Uint8Array(bytes) }));
    const write = () => this.#disk.snapshots.write(header, copied);
    const dying = () => void this.#disk.leftOvers.push(...copied.map(({ bytes }) => bytes));
    return this.#process.work('snapshots', 'write snapshot', write, dying);
  }

  readHeader(seq: number): SnapshotHeader {
    return this.#disk.snapshots.readHeader(seq);
  }

  borrowBlocks(seq: number): Iterable<SnapshotBlock> {
    return this.#disk.snapshots.borrowBlocks(seq);
  }

  remove(seq: number): Promise<void> {
    const remove = () => this.#disk.snapshots.remove(seq);
    return this.#process.work('snapshots', 'remove snapshot', remove, () => void remove());
  }

  sweep(): Promise<void> {
    return this.#process.work('snapshots', 'sweep', () => {
      this.#disk.leftOvers = [];
    });
  }
}
