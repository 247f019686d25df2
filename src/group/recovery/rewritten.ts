/**
 * Rewritten batches of a log that is walked from its begin, and the records that account for them. Such a record stands
 * behind the batches that it names, under retention by all its days: what waits for one is kept in few bytes, and no
 * longer than until then.
 */
import type { Batch } from '../../core/records/batch.js';
import type { BatchesRewritten } from '../../core/records/records.js';
import type { LogReader, StoredBatch } from '../ports/log.js';
import { DamagedError } from '../ports/storage-errors.js';
import { DigestTable } from './digest-table.js';
import { batchFrom } from './recovery.js';

export class RewrittenBatches {
  /** Batches that were read with content which only a record further on states. */
  readonly #expected = new DigestTable();
  /** What the records read last state of batches that were read with other content, or were accounted for. */
  readonly #stated = new Map<number, string>();

  /** A batch as it was read. Throws `DamagedError` where it says that it has its first content, and has not. */
  add(batch: Batch): void {
    if (batch.rewritten) this.#expected.set(batch.firstSeq, batch.digestNow());
    else if (!batch.contentHolds()) {
      throw new DamagedError(`log batch at record ${batch.firstSeq}: content is not what was first written`);
    }
  }

  /** `after`: what is said of batches up to this record is passed over, since the walk began after them. */
  note({ batches }: BatchesRewritten, after = 0): void {
    for (const [firstSeq, digest] of batches) {
      if (firstSeq <= after) continue;
      // Content that is ahead was written later than what an earlier record states, so it stays.
      if (!this.#expected.has(firstSeq)) this.#stated.set(firstSeq, digest);
      else if (this.#expected.holds(firstSeq, digest)) this.#expected.delete(firstSeq);
    }
  }

  /**
   * Reads the batches again that were rewritten where the walk had passed, as the records say that came since; never
   * amid a `borrow`.
   */
  *again(log: LogReader): Generator<StoredBatch> {
    for (const [firstSeq, digest] of this.#stated) {
      const stored = log.at(firstSeq);
      if (stored?.firstSeq !== firstSeq) throw new DamagedError(`log: the batch at record ${firstSeq} is missing`);
      const found = batchFrom(stored).digestNow();
      if (found !== digest) this.#expected.set(firstSeq, found);
      yield stored;
    }
    this.#stated.clear();
  }

  /** Whether every batch is as the records read so far say. */
  get areAccountedFor(): boolean {
    return this.#expected.first === undefined;
  }

  /**
   * For the end of the log: content and the record that states it are written together, so whoever has read the one
   * finds the other. Throws `DamagedError` where a batch is left.
   */
  mustBeAccountedFor(): void {
    const { first } = this.#expected;
    if (first === undefined) return;
    throw new DamagedError(`log batch at record ${first}: rewritten content that no record accounts for`);
  }
}
