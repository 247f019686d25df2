/**
 * Copies a log that its owner goes on writing, and ends with the log as it stood at one record. Batches that an erasure
 * rewrites meanwhile are read again, so that no copy holds half of an erasure and no byte that had left the log by
 * then.
 */
import { type Batch, chainStart } from '../../core/records/batch.js';
import type { LogRecord } from '../../core/records/records.js';
import { limits } from '../../limits.js';
import type { LogReader, StoredBatch } from '../ports/log.js';
import { DamagedError } from '../ports/storage-errors.js';
import { batchFrom, lastSeqOf } from '../recovery/recovery.js';
import { RewrittenBatches } from '../recovery/rewritten.js';

/** Where a copy goes. Each call is one transaction. */
export interface LogSink {
  /** Batches after all that it holds, in order. */
  add(batches: readonly StoredBatch[]): Promise<void>;
  /** Other content for batches that it holds. */
  replace(batches: readonly StoredBatch[]): Promise<void>;
}

export interface CopiedLog {
  readonly lastSeq: number;
  readonly chain: Uint8Array;
  /** The newest record that took a subject out of the state, 0 for none: an older snapshot still holds it. */
  readonly erasedSeq: number;
}

/** Told after each step of a copy: records done, of how many. Throws to end the copy. */
export type CopyProgress = (done: number, total: number) => void;

/** Times that the copy goes on to where the log ends meanwhile: the second stretch is short. */
const STRETCHES = 2;

/** Throws `DamagedError` where the log does not hold together, whatever it threw where `progress` did. */
export async function copyLog(source: LogReader, sink: LogSink, progress: CopyProgress): Promise<CopiedLog> {
  const copy = new Copy(source, sink);
  for (let stretch = 0; stretch < STRETCHES; stretch++) {
    const end = lastSeqOf(source);
    while (copy.lastSeq < end || !copy.isWhole) {
      await copy.step();
      progress(copy.lastSeq, Math.max(end, copy.lastSeq));
    }
  }
  return { lastSeq: copy.lastSeq, chain: copy.chain, erasedSeq: copy.erasedSeq };
}

class Copy {
  lastSeq = 0;
  erasedSeq = 0;
  chain: Uint8Array = chainStart;
  readonly #source: LogReader;
  readonly #sink: LogSink;
  readonly #rewritten = new RewrittenBatches();

  constructor(source: LogReader, sink: LogSink) {
    this.#source = source;
    this.#sink = sink;
  }

  /** Whether every rewritten batch is as the copied records say: the copy is the log as of `lastSeq`. */
  get isWhole(): boolean {
    return this.#rewritten.areAccountedFor;
  }

  /** Copies what comes next, and once more what that says was rewritten. */
  async step(): Promise<void> {
    const stored = this.#source.from(this.lastSeq + 1, limits.catchUpBatches, limits.catchUpBytes);
    if (stored.length === 0) {
      this.#rewritten.mustBeAccountedFor();
      throw new DamagedError(`the log ends at record ${this.lastSeq}, before its newest batch`);
    }
    for (const one of stored) this.#copyBatch(batchFrom(one));
    await this.#sink.add(stored);
    await this.#readAgain();
  }

  #copyBatch(batch: Batch): void {
    const at = `log batch at record ${this.lastSeq + 1}`;
    if (!batch.follows(this.chain, this.lastSeq)) throw new DamagedError(`${at}: does not follow the one before`);
    this.#rewritten.add(batch);
    let seq = batch.firstSeq;
    for (const record of batch) this.#note(record, seq++);
    this.lastSeq = batch.lastSeq;
    this.chain = batch.chain;
  }

  #note(record: LogRecord, seq: number): void {
    if (record.type === 'subject_erased') this.erasedSeq = seq;
    if (record.type === 'batches_rewritten') this.#rewritten.note(record);
  }

  async #readAgain(): Promise<void> {
    let changed: StoredBatch[] = [];
    let bytes = 0;
    for (const stored of this.#rewritten.again(this.#source)) {
      changed.push(stored);
      bytes += stored.bytes.length;
      if (bytes < limits.catchUpBytes) continue;
      await this.#sink.replace(changed);
      changed = [];
      bytes = 0;
    }
    if (changed.length > 0) await this.#sink.replace(changed);
  }
}
