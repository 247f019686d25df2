/** The log's port in memory, for the simulation: the rules of `lmdb-log.ts`, and faults on demand. */
import { type LogReader, type LogWriter, OwnerLostError, type StoredBatch } from '../../src/group/ports/storage.js';

/** Outcome of an append: written, refused (nothing written), or written with the answer lost. */
export type AppendFault = 'ok' | 'refuse' | 'lose';

/** The part that survives when a node dies. Each new writer acquires the log from the one before. */
export class MemoryLog implements LogReader {
  readonly #batches: StoredBatch[] = [];
  #epoch = 0;
  #appends = 0;
  readonly #beforeAppend: (append: number) => AppendFault;

  /** `beforeAppend` gets the number of the append, counted from 0 over all owners, and returns its outcome. */
  constructor(beforeAppend: (append: number) => AppendFault = () => 'ok') {
    this.#beforeAppend = beforeAppend;
  }

  acquire(): MemoryLogWriter {
    this.#epoch += 1;
    return new MemoryLogWriter(this, this.#epoch);
  }

  last(): StoredBatch | undefined {
    return copyOf(this.#batches.at(-1));
  }

  at(seq: number): StoredBatch | undefined {
    return copyOf(this.#batches[this.#indexFrom(seq + 1) - 1]);
  }

  from(firstSeq: number, limit: number, maxBytes: number): StoredBatch[] {
    const found: StoredBatch[] = [];
    this.borrow(firstSeq, limit, maxBytes, (batch) => found.push(copyOf(batch)!));
    return found;
  }

  borrow(firstSeq: number, limit: number, maxBytes: number, take: (batch: StoredBatch) => void): number {
    let count = 0;
    let bytes = 0;
    for (let i = this.#indexFrom(firstSeq); i < this.#batches.length && count < limit; i += 1) {
      const batch = copyOf(this.#batches[i])!;
      take(batch);
      count += 1;
      bytes += batch.bytes.length;
      // Overwrite the bytes, as the next read of a real store would.
      batch.bytes.fill(0);
      if (bytes >= maxBytes) break;
    }
    return count;
  }

  async close(): Promise<void> {}

  /** Called only by writers. */
  write(epoch: number, batch: StoredBatch | null, rewrites: readonly StoredBatch[]): void {
    if (epoch !== this.#epoch) throw new OwnerLostError('another owner took the log');
    const lastSeq = this.#batches.at(-1)?.firstSeq ?? -1;
    if (batch !== null && batch.firstSeq <= lastSeq) {
      throw new Error(`a batch at ${batch.firstSeq} cannot follow the one at ${lastSeq}`);
    }
    const indexes = rewrites.map((rewrite) => this.#indexOf(rewrite.firstSeq));
    const fault = this.#beforeAppend(this.#appends);
    this.#appends += 1;
    if (fault === 'refuse') throw new Error('the store refused the commit');
    for (const [i, index] of indexes.entries()) this.#batches[index] = copyOf(rewrites[i])!;
    if (batch !== null) this.#batches.push(copyOf(batch)!);
    if (fault === 'lose') throw new Error('the answer to the commit is lost');
  }

  #indexOf(seq: number): number {
    const index = this.#indexFrom(seq);
    if (this.#batches[index]?.firstSeq !== seq)
      throw new Error(`cannot replace the batch at ${seq}: it does not exist`);
    return index;
  }

  /** Returns the index of the first batch at or above `seq`. */
  #indexFrom(seq: number): number {
    let low = 0;
    let high = this.#batches.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#batches[middle]!.firstSeq < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export class MemoryLogWriter implements LogWriter {
  readonly epoch: number;
  readonly storingFrom = null;
  readonly #log: MemoryLog;

  /** Created by `MemoryLog.acquire`. */
  constructor(log: MemoryLog, epoch: number) {
    this.#log = log;
    this.epoch = epoch;
  }

  last(): StoredBatch | undefined {
    return this.#log.last();
  }

  at(seq: number): StoredBatch | undefined {
    return this.#log.at(seq);
  }

  from(firstSeq: number, limit: number, maxBytes: number): StoredBatch[] {
    return this.#log.from(firstSeq, limit, maxBytes);
  }

  borrow(firstSeq: number, limit: number, maxBytes: number, take: (batch: StoredBatch) => void): number {
    return this.#log.borrow(firstSeq, limit, maxBytes, take);
  }

  async append(batch: StoredBatch | null, rewrites: readonly StoredBatch[]): Promise<void> {
    this.#log.write(this.epoch, batch, rewrites);
  }

  async stored(): Promise<void> {}

  async scrub(): Promise<void> {}

  async close(): Promise<void> {}
}

function copyOf(batch: StoredBatch | undefined): StoredBatch | undefined {
  return batch === undefined ? undefined : { firstSeq: batch.firstSeq, bytes: new Uint8Array(batch.bytes) };
}
