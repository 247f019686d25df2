/**
 * Checks the rewritten batches of a log against the records that state their new content, which come later, under
 * retention days later. Batches before the walk that such a record names are read again.
 */
import { firstWhere } from '../../core/columns/times.js';
import type { Batch } from '../../core/records/batch.js';
import type { BatchesRewritten } from '../../core/records/records.js';
import { DamagedError, type LogReader, type StoredBatch } from '../ports/storage.js';
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

  /** Call at the end of the log: content and the record that states it are written, and so are read, together. */
  mustBeAccountedFor(): void {
    const { first } = this.#expected;
    if (first === undefined) return;
    throw new DamagedError(`log batch at record ${first}: no record accounts for its rewritten content`);
  }
}

const DIGEST_AT = 8;
const ROW_BYTES = 24;
/** A compromise: an insertion in the middle moves few bytes, and there are few runs to search. */
const RUN_ROWS = 512;

/** Half a digest: a collision is as hard to find as a key of 128 bits. */
const HEX_DIGITS = (ROW_BYTES - DIGEST_AT) * 2;

class Run {
  readonly rows = Buffer.alloc(RUN_ROWS * ROW_BYTES);
  count = 0;

  seq(row: number): number {
    return this.rows.readDoubleLE(row * ROW_BYTES);
  }

  rowFrom(seq: number): number {
    return firstWhere(this.count, (row) => this.seq(row) >= seq);
  }

  move(row: number, to: number): void {
    this.rows.copyWithin(to * ROW_BYTES, row * ROW_BYTES, this.count * ROW_BYTES);
    this.count += to - row;
  }

  split(): Run {
    const upper = new Run();
    const from = this.count >> 1;
    this.rows.copy(upper.rows, 0, from * ROW_BYTES, this.count * ROW_BYTES);
    upper.count = this.count - from;
    this.count = from;
    return upper;
  }
}

/**
 * Maps sequence numbers, which mostly come in order, to digests, in 24 bytes each. A `Map` would take five times as
 * much memory, and is limited to 16,777,216 entries.
 */
export class DigestTable {
  /** No run is empty. */
  readonly #runs: Run[] = [];

  get first(): number | undefined {
    return this.#runs[0]?.seq(0);
  }

  has(seq: number): boolean {
    const run = this.#runs[this.#runOf(seq)];
    return run !== undefined && isAt(run, run.rowFrom(seq), seq);
  }

  holds(seq: number, digest: string): boolean {
    const run = this.#runs[this.#runOf(seq)];
    if (run === undefined) return false;
    const row = run.rowFrom(seq);
    const at = row * ROW_BYTES;
    return (
      isAt(run, row, seq) && run.rows.toString('hex', at + DIGEST_AT, at + ROW_BYTES) === digest.slice(0, HEX_DIGITS)
    );
  }

  set(seq: number, digest: string): void {
    const run = this.#withRoom(seq);
    const row = run.rowFrom(seq);
    if (!isAt(run, row, seq)) run.move(row, row + 1);
    run.rows.writeDoubleLE(seq, row * ROW_BYTES);
    run.rows.write(digest, row * ROW_BYTES + DIGEST_AT, ROW_BYTES - DIGEST_AT, 'hex');
  }

  delete(seq: number): void {
    const index = this.#runOf(seq);
    const run = this.#runs[index];
    if (run === undefined) return;
    const row = run.rowFrom(seq);
    if (!isAt(run, row, seq)) return;
    run.move(row + 1, row);
    if (run.count === 0) this.#runs.splice(index, 1);
  }

  /** The last run that begins at or below `seq`, or else the first. */
  #runOf(seq: number): number {
    return Math.max(0, firstWhere(this.#runs.length, (i) => this.#runs[i]!.seq(0) > seq) - 1);
  }

  #withRoom(seq: number): Run {
    const index = this.#runOf(seq);
    const run = this.#runs[index];
    if (run !== undefined && run.count < RUN_ROWS) return run;
    const isBehindAll = run === undefined || (index === this.#runs.length - 1 && run.seq(run.count - 1) < seq);
    // Numbers in order leave full runs behind.
    const next = isBehindAll ? new Run() : run.split();
    this.#runs.splice(index + 1, 0, next);
    return isBehindAll || next.seq(0) <= seq ? next : run;
  }
}

function isAt(run: Run, row: number, seq: number): boolean {
  return row < run.count && run.seq(row) === seq;
}
