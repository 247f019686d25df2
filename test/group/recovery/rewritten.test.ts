/** A check and a copy accept rewritten batches only once a record accounts for them. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Batch, BatchWriter, chainStart, NONCE_BYTES } from '../../../src/core/records/batch.js';
import type { LogRecord } from '../../../src/core/records/records.js';
import type { LogReader, StoredBatch } from '../../../src/group/ports/storage.js';
import { limits } from '../../../src/limits.js';
import { t0 } from '../../support/given.js';
import { MemorySnapshotStore } from '../../support/memory-snapshots.js';
import { verifyStore } from '../../support/verify-store.js';
import { copyLog } from '../life.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const first: LogRecord = { type: 'epoch_moved', epoch: 1, factor: 1 };
const left: LogRecord = { type: 'epoch_moved', epoch: 2, factor: 1 };

function batchOf(seq: number, record: LogRecord, chain = chainStart): Batch {
  const writer = new BatchWriter();
  writer.add(record);
  return writer.seal(seq, t0, new Uint8Array(NONCE_BYTES), chain);
}

/**
 * So many batches of one record each, all rewritten, and behind them the records that say so: a log under retention.
 */
class RetiredLog implements LogReader {
  readonly #batches: Iterator<Batch>;
  readonly #lastSeq: number;
  #marks: number[] = [];

  constructor(count: number) {
    this.#lastSeq = count + Math.ceil(count / limits.redactionPieceBatches) + 1;
    this.#batches = this.#made(count);
  }

  /** Bytes that were kept for all batches, most of them not accounted for, and in the end. */
  get storedBytes(): number[] {
    const [before = 0, ...kept] = this.#marks;
    return kept.map((bytes) => bytes - before);
  }

  *#made(count: number): Generator<Batch, undefined> {
    // Outside of what is measured, since it is there before.
    const digests = Buffer.alloc(32 * count);
    this.#mark();
    let chain = chainStart;
    const sealed = (seq: number, record: LogRecord) => {
      const batch = batchOf(seq, record, chain);
      chain = batch.chain;
      return batch;
    };
    for (let seq = 1; seq <= count; seq++) {
      const batch = sealed(seq, first).rewrite(new Map([[seq, left]]));
      digests.write(batch.digestNow(), 32 * (seq - 1), 'hex');
      yield batch;
    }
    this.#mark();
    let seq = count + 1;
    for (let from = 1; from <= count; from += limits.redactionPieceBatches) {
      const to = Math.min(from + limits.redactionPieceBatches, count + 1);
      const batches = Array.from({ length: to - from }, (_, i) => {
        const at = 32 * (from + i - 1);
        return [from + i, digests.toString('hex', at, at + 32)] as const;
      });
      yield sealed(seq++, { type: 'batches_rewritten', batches });
    }
    this.#mark();
    yield sealed(seq, first);
    return undefined;
  }

  #mark(): void {
    collect();
    // Buffers that the first one freed count as free from the second on.
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    this.#marks.push(heapUsed + arrayBuffers);
  }

  last(): StoredBatch {
    return batchOf(this.#lastSeq, first);
  }

  at = (): never => assert.unreachable('nothing of it is rewritten meanwhile') as never;

  from(firstSeq: number, limit: number, maxBytes: number): StoredBatch[] {
    const stored: StoredBatch[] = [];
    this.borrow(firstSeq, limit, maxBytes, (batch) => stored.push(batch));
    return stored;
  }

  borrow(_firstSeq: number, limit: number, _maxBytes: number, take: (batch: StoredBatch) => void): number {
    const few = Math.min(limit, 64);
    for (let count = 0; count < few; count++) {
      const next = this.#batches.next();
      if (next.done) return count;
      take(next.value);
    }
    return few;
  }

  async close(): Promise<void> {}
}

const BATCHES = 40_000;
const BYTES_EACH = 40;

function assertSmall(log: RetiredLog): void {
  const each = log.storedBytes.map((bytes) => bytes / BATCHES);
  assert.is(each.length, 2);
  assert.ok(
    each.every((bytes) => bytes < BYTES_EACH),
    `${each.map(Math.round)} bytes a batch`,
  );
}

test('a check keeps few bytes of a rewritten batch, and none once a record accounts for it', () => {
  const log = new RetiredLog(BATCHES);
  const report = verifyStore(log, new MemorySnapshotStore(), null, 'background');
  assert.equal(report.faults, []);
  assert.ok(report.batches > BATCHES);
  assertSmall(log);
});

test('a copy keeps few bytes of a rewritten batch, and none once a record accounts for it', async () => {
  const log = new RetiredLog(BATCHES);
  let batches = 0;
  const sink = {
    async add(added: readonly StoredBatch[]) {
      batches += added.length;
    },
    replace: async () => assert.unreachable('nothing of it is rewritten meanwhile'),
  };
  await copyLog(log, sink, () => undefined);
  assert.ok(batches > BATCHES);
  assertSmall(log);
});

test.run();
