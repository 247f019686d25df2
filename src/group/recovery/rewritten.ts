/**
 * Checks the rewritten batches of a log against the records that state their new content, which come later, under
 * retention days later. Batches before the walk that such a record names are read again.
 */
import type { Batch } from '../../core/records/batch.js';
import type { BatchesRewritten } from '../../core/records/records.js';
import type { LogReader, StoredBatch } from '../ports/log.js';
import { DamagedError } from '../ports/storage-errors.js';
import { DigestTable } from './digest-table.js';
import { batchFrom } from './recovery.js';

export class RewrittenBatches {
  readonly #expected = new DigestTable();
  /** The last stated content of batches that had other content when they were read, or were already accounted for. */
  readonly #stated = new Map<number, string>();

  /** Throws `DamagedError` if a batch is not marked as rewritten but differs from its first content. */
  add(batch: Batch): void {
    if (batch.rewritten) this.#expected.set(batch.firstSeq, batch.digestNow());
    else if (!batch.isContentOriginal()) {
      throw new DamagedError(`log batch at record ${batch.firstSeq}: the content differs from what was first written`);
    }
  }

  /** Notes a record. Batches up to record `after` are ignored, because the walk began behind them. */
  note({ batches }: BatchesRewritten, after = 0): void {
    for (const [firstSeq, digest] of batches) {
      if (firstSeq <= after) continue;
      // Such content was written later than the content that an earlier record states, so its entry stays.
      if (!this.#expected.has(firstSeq)) this.#stated.set(firstSeq, digest);
      else if (this.#expected.holds(firstSeq, digest)) this.#expected.delete(firstSeq);
    }
  }

  /** Yields batches that were rewritten behind the walk. The caller reads each anew and calls `readAgain`. */
  *batchesToReadAgain(): Generator<number> {
    for (const firstSeq of this.#stated.keys()) yield firstSeq;
  }

  /** Throws `DamagedError` if the batch is missing. */
  readAgain(firstSeq: number, stored: StoredBatch | undefined): StoredBatch {
    if (stored?.firstSeq !== firstSeq) throw new DamagedError(`log: the batch at record ${firstSeq} is missing`);
    const found = batchFrom(stored).digestNow();
    if (found !== this.#stated.get(firstSeq)) this.#expected.set(firstSeq, found);
    this.#stated.delete(firstSeq);
    return stored;
  }

  /** Must not run during a `borrow`. */
  readAllAgain(log: LogReader): void {
    for (const firstSeq of this.batchesToReadAgain()) this.readAgain(firstSeq, log.at(firstSeq));
  }

  get areAccountedFor(): boolean {
    return this.#expected.first === undefined;
  }

  /**
   * Call at the end of the log. Content and the record that states it are written together, so a reader of one finds
   * the other.
   */
  mustBeAccountedFor(): void {
    const { first } = this.#expected;
    if (first === undefined) return;
    throw new DamagedError(`log batch at record ${first}: no record accounts for its rewritten content`);
  }
}
