/**
 * Copies a log while its owner continues to write. Batches that an erasure rewrites meanwhile are read again, so that
 * the copy contains neither half of an erasure nor a byte that had already left the log.
 */
import { type Batch, chainStart } from '../../core/records/batch.js';
import { limits } from '../../limits.js';
import { DamagedError, type LogReader, type StoredBatch } from '../ports/storage.js';
import { batchFrom, lastSeqOf } from '../recovery/recovery.js';
import { RewrittenBatches } from '../recovery/rewritten.js';

export interface LogSource {
  lastSeq(): number | Promise<number>;
  /** The next batches from record `firstSeq` on, of a size that one step can copy. */
  from(firstSeq: number): StoredBatch[] | Promise<StoredBatch[]>;
  at(firstSeq: number): StoredBatch | undefined | Promise<StoredBatch | undefined>;
}

/** Destination of a copy. Each call is one transaction. */
export interface LogSink {
  add(batches: readonly StoredBatch[]): Promise<void>;
  /** Existing batches only. */
  replace(batches: readonly StoredBatch[]): Promise<void>;
}

export type CopiedLog = Readonly<Pick<Copy, 'lastSeq' | 'chain' | 'erasedSeq'>>;

export type CopyStart = Pick<CopiedLog, 'lastSeq' | 'chain'>;

const wholeLog: CopyStart = { lastSeq: 0, chain: chainStart };

/** Called after each step with the copied records and their total. Throws to end the copy. */
export type CopyProgress = (done: number, total: number) => void;

/** How often the copy continues to the current end of the log. The second stretch is short. */
const STRETCHES = 2;

export function sourceOf(log: LogReader): LogSource {
  return {
    lastSeq: () => lastSeqOf(log),
    from: (firstSeq) => log.from(firstSeq, limits.catchUpBatches, limits.catchUpBytes),
    at: (firstSeq) => log.at(firstSeq),
  };
}

/**
 * Copies the log behind `start`, which the sink has, and the batches up to there that were rewritten later. Throws
 * `DamagedError` if the log is not intact or does not continue that of the sink.
 */
export async function copyFrom(
  source: LogSource,
  sink: LogSink,
  progress: CopyProgress,
  start = wholeLog,
): Promise<CopiedLog> {
  const copy = new Copy(source, sink, start);
  for (let stretch = 0; stretch < STRETCHES; stretch++) {
    const end = await source.lastSeq();
    while (copy.lastSeq < end || !copy.isWhole) {
      await copy.step();
      progress(copy.lastSeq, Math.max(end, copy.lastSeq));
    }
  }
  return { lastSeq: copy.lastSeq, chain: copy.chain, erasedSeq: copy.erasedSeq };
}

class Copy {
  lastSeq: number;
  /** The newest copied record that removed a subject: an older snapshot still contains the subject. */
  erasedSeq = 0;
  chain: Uint8Array;
  readonly #rewritten = new RewrittenBatches();

  constructor(
    private readonly source: LogSource,
    private readonly sink: LogSink,
    { lastSeq, chain }: CopyStart,
  ) {
    this.lastSeq = lastSeq;
    this.chain = chain;
  }

  get isWhole(): boolean {
    return this.#rewritten.areAccountedFor;
  }

  async step(): Promise<void> {
    const stored = await this.source.from(this.lastSeq + 1);
    if (stored.length === 0) {
      this.#rewritten.mustBeAccountedFor();
      throw new DamagedError(`the log ends at record ${this.lastSeq}, before its newest batch`);
    }
    for (const one of stored) this.#copyBatch(batchFrom(one));
    await this.sink.add(stored);
    await this.#readAgain();
  }

  #copyBatch(batch: Batch): void {
    const at = `log batch at record ${this.lastSeq + 1}`;
    if (!batch.follows(this.chain, this.lastSeq)) throw new DamagedError(`${at}: does not follow the batch before it`);
    this.#rewritten.add(batch);
    for (let seq = batch.firstSeq; seq <= batch.lastSeq; seq++) {
      // The digest of the batch covers its events.
      if (batch.isEvent(seq)) continue;
      const record = batch.record(seq);
      if (record.type === 'subject_erased') this.erasedSeq = seq;
      if (record.type === 'batches_rewritten') this.#rewritten.note(record);
    }
    this.lastSeq = batch.lastSeq;
    this.chain = batch.chain;
  }

  async #readAgain(): Promise<void> {
    let changed: StoredBatch[] = [];
    let bytes = 0;
    for (const firstSeq of this.#rewritten.batchesToReadAgain()) {
      const stored = this.#rewritten.readAgain(firstSeq, await this.source.at(firstSeq));
      changed.push(stored);
      bytes += stored.bytes.length;
      if (bytes < limits.catchUpBytes) continue;
      await this.sink.replace(changed);
      changed = [];
      bytes = 0;
    }
    if (changed.length > 0) await this.sink.replace(changed);
  }
}

const LENGTH_AT = 8;
const HEAD_BYTES = 12;

/** Writes up to `limit` batches that fit in `memory`. Returns the length, or the piece itself if not one fits. */
export function writePiece(log: LogReader, firstSeq: number, limit: number, memory: Buffer): number | Buffer {
  let length = 0;
  let isFull = false;
  let large: Buffer | null = null;
  log.borrow(firstSeq, limit, memory.length, (batch) => {
    const bytes = HEAD_BYTES + batch.bytes.length;
    isFull ||= length + bytes > memory.length;
    if (!isFull) {
      encode(batch, memory, length);
      length += bytes;
    } else if (length === 0 && large === null) {
      large = Buffer.alloc(bytes);
      encode(batch, large, 0);
    }
  });
  return large ?? length;
}

function encode({ firstSeq, bytes }: StoredBatch, to: Buffer, at: number): void {
  to.writeDoubleLE(firstSeq, at);
  to.writeUInt32LE(bytes.length, at + LENGTH_AT);
  to.set(bytes, at + HEAD_BYTES);
}

/** The batches are views of the piece. Throws `DamagedError` if it is incomplete. */
export function batchesIn(piece: Buffer): StoredBatch[] {
  const batches: StoredBatch[] = [];
  for (let at = 0; at < piece.length; ) {
    const body = at + HEAD_BYTES;
    const end = body <= piece.length ? body + piece.readUInt32LE(at + LENGTH_AT) : Number.POSITIVE_INFINITY;
    if (end > piece.length) throw new DamagedError('a piece of the log is incomplete');
    batches.push({ firstSeq: piece.readDoubleLE(at), bytes: piece.subarray(body, end) });
    at = end;
  }
  return batches;
}
