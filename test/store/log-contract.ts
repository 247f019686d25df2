/**
 * The contract of the log's port that every adapter must fulfil. Registers its tests with uvu; the caller runs them.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  DamagedError,
  type LogReader,
  type LogWriter,
  OwnerLostError,
  type StoredBatch,
} from '../../src/group/ports/storage.js';

export interface LogHarness {
  /** A writer on an empty log. */
  writer(): Promise<LogWriter>;
  /** Another owner takes the log of the newest writer, as if that had died. */
  takeOver(): Promise<LogWriter>;
  /** A reader of the log of the newest writer. */
  reader(): LogReader;
  /** Closes and removes everything. */
  end(): Promise<void>;
}

/** `count` bytes that differ from batch to batch. */
export function batchOf(firstSeq: number, count = 40): StoredBatch {
  return { firstSeq, bytes: Uint8Array.from({ length: count }, (_, i) => (firstSeq * 31 + i * 7) & 0xff) };
}

/** Appends a batch, which readers see once it is stored. */
async function appendTo(writer: LogWriter, batch: StoredBatch | null, rewrites: readonly StoredBatch[]): Promise<void> {
  await writer.append(batch, rewrites);
  await writer.stored();
}

/** A harness whose writers are acquired one after the other, `earlier` before them, and closed at the end. */
export function acquiredLog(
  acquire: (earlier: number) => Promise<LogWriter>,
  reader: LogHarness['reader'],
): LogHarness {
  const writers: LogWriter[] = [];
  const writer = async () => {
    writers.push(await acquire(writers.length));
    return writers.at(-1)!;
  };
  const end = async () => {
    for (const one of writers) await one.close();
  };
  return { writer, takeOver: writer, reader, end };
}

export function testLog(name: string, harness: () => Promise<LogHarness>): void {
  const rule = (text: string, body: (log: LogHarness) => Promise<void>) =>
    test(`${name}: ${text}`, async () => {
      const log = await harness();
      try {
        await body(log);
      } finally {
        await log.end();
      }
    });

  rule('an empty log has no last batch, none at a number and none from one', async (log) => {
    const writer = await log.writer();
    assert.equal([writer.last(), writer.at(10), writer.from(0, 10, 1000)], [undefined, undefined, []]);
  });

  rule('what was appended is read back byte for byte, at every size', async (log) => {
    const writer = await log.writer();
    const sizes = [1, 17, 500, 2_010, 2_030, 2_040, 4_068, 4_069, 5_000, 70_000, 300_000, 3_000_000];
    for (const [i, size] of sizes.entries()) await appendTo(writer, batchOf(i + 1, size), []);
    for (const [i, size] of sizes.entries()) assert.equal(writer.at(i + 1), batchOf(i + 1, size));
    assert.equal(writer.last(), batchOf(sizes.length, 3_000_000));
  });

  rule('at() finds the batch that holds a sequence number', async (log) => {
    const writer = await log.writer();
    for (const seq of [1, 4, 300, 70_000]) await appendTo(writer, batchOf(seq), []);
    const found = [0, 1, 3, 4, 299, 300, 69_999, 70_000, 2 ** 53 - 1].map((seq) => writer.at(seq)?.firstSeq);
    assert.equal(found, [undefined, 1, 1, 4, 4, 300, 300, 70_000, 70_000]);
  });

  rule('from() reads in order until its limit or its bytes are reached, and at least one batch', async (log) => {
    const writer = await log.writer();
    for (const seq of [1, 5, 9, 260, 70_000]) await appendTo(writer, batchOf(seq, 100), []);
    const seqs = (firstSeq: number, limit: number, maxBytes: number) =>
      writer.from(firstSeq, limit, maxBytes).map((batch) => batch.firstSeq);
    assert.equal(seqs(0, 100, 1e6), [1, 5, 9, 260, 70_000]);
    assert.equal(seqs(2, 2, 1e6), [5, 9]);
    assert.equal(seqs(5, 100, 1), [5]);
    assert.equal(seqs(5, 100, 200), [5, 9]);
    assert.equal(seqs(70_001, 100, 1e6), []);
  });

  rule('borrow() lends what from() reads, ends at what its taker throws, and can be called again', async (log) => {
    const writer = await log.writer();
    for (const seq of [1, 5, 9, 260, 70_000]) await appendTo(writer, batchOf(seq, seq * 3), []);
    for (const range of [
      [0, 100, 1e6],
      [2, 2, 1e6],
      [5, 100, 1],
      [5, 100, 20],
      [70_001, 100, 1e6],
    ] as const) {
      const taken: StoredBatch[] = [];
      const [first, limit, maxBytes] = range;
      const count = writer.borrow(first, limit, maxBytes, ({ firstSeq, bytes }) => {
        taken.push({ firstSeq, bytes: new Uint8Array(bytes) });
      });
      assert.equal([taken, count], [writer.from(first, limit, maxBytes), taken.length]);
    }
    const refuse = ({ firstSeq }: StoredBatch) => {
      if (firstSeq === 9) throw new Error('not this one');
    };
    assert.throws(() => writer.borrow(0, 100, 1e6, refuse), /not this one/);
    await appendTo(writer, batchOf(70_001), []);
    const lent = writer.borrow(9, 100, 1e6, () => undefined);
    assert.is(lent, 4);
  });

  rule('bytes that were read, and those of an append that resolved, belong to the caller', async (log) => {
    const writer = await log.writer();
    const handed = batchOf(1, 100);
    await appendTo(writer, handed, []);
    handed.bytes.fill(0);
    await appendTo(writer, batchOf(2, 40_000), []);
    const [small, large] = [writer.at(1)!, writer.at(2)!];
    writer.from(0, 10, 1e6);
    assert.equal(small, batchOf(1, 100));
    assert.equal(large, batchOf(2, 40_000));
    assert.ok(small.bytes.buffer.byteLength <= 4_096, 'no view of a large buffer');
    small.bytes.fill(0);
    assert.equal(writer.at(1), batchOf(1, 100));
  });

  rule('a reader sees each append once it resolved', async (log) => {
    const writer = await log.writer();
    const reader = log.reader();
    for (let seq = 1; seq <= 20; seq += 1) {
      await appendTo(writer, batchOf(seq), []);
      assert.equal(reader.last(), batchOf(seq));
    }
    await reader.close();
  });

  rule('a rewrite replaces its batch, shorter or longer, together with a new batch', async (log) => {
    const writer = await log.writer();
    const sizes = [30, 600, 1_000, 6_000, 100_000];
    for (const [i, size] of sizes.entries()) await appendTo(writer, batchOf(i + 1, size), []);
    for (const newBytes of [10, 700, 2_500, 90_000, 120_000]) {
      const rewrites = sizes.map((_, i) => ({ firstSeq: i + 1, bytes: batchOf(i + 77, newBytes).bytes }));
      await appendTo(writer, batchOf(1_000 + newBytes), rewrites);
      assert.equal(writer.from(1, sizes.length, 1e9), rewrites);
      assert.equal(writer.last(), batchOf(1_000 + newBytes));
    }
  });

  rule('rewrites without a new batch are committed too', async (log) => {
    const writer = await log.writer();
    await appendTo(writer, batchOf(1), []);
    await appendTo(writer, null, [{ firstSeq: 1, bytes: new Uint8Array([1, 2, 3]) }]);
    assert.equal(writer.at(1)?.bytes, new Uint8Array([1, 2, 3]));
    assert.is(writer.last()?.firstSeq, 1);
  });

  rule('a batch that does not follow the newest, and a rewrite of none, are refused whole', async (log) => {
    const writer = await log.writer();
    await appendTo(writer, batchOf(5), []);
    for (const seq of [4, 5]) assert.instance(await rejection(writer.append(batchOf(seq), [])), Error);
    assert.instance(await rejection(writer.append(batchOf(6), [batchOf(3)])), Error);
    assert.equal(writer.from(0, 10, 1e6), [batchOf(5)]);
  });

  rule('a new owner has a greater epoch, and the old one writes nothing more', async (log) => {
    const first = await log.writer();
    await appendTo(first, batchOf(1), []);
    const second = await log.takeOver();
    assert.is(second.epoch, first.epoch + 1);
    assert.instance(await rejection(first.append(batchOf(2), [batchOf(1, 50)])), OwnerLostError);
    assert.equal(second.from(0, 10, 1e6), [batchOf(1)]);
    await appendTo(second, batchOf(2, 60), []);
    assert.equal(second.last(), batchOf(2, 60));
  });

  rule('a scrub changes nothing that can be read', async (log) => {
    const writer = await log.writer();
    for (let seq = 1; seq <= 50; seq += 1) await appendTo(writer, batchOf(seq, seq * 100), []);
    await appendTo(writer, null, [{ firstSeq: 7, bytes: new Uint8Array(9) }]);
    const before = writer.from(0, 100, 1e9);
    await writer.scrub();
    assert.equal(writer.from(0, 100, 1e9), before);
    await appendTo(writer, batchOf(51), []);
    assert.equal(writer.last(), batchOf(51));
  });
}

/** Returns the rejection of the promise; undefined if it resolves. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Like `rejection`, for an error of a class. */
export async function rejectionAs<E extends Error>(
  type: abstract new (...args: never[]) => E,
  promise: Promise<unknown>,
): Promise<E> {
  const error = await rejection(promise);
  assert.instance(error, type);
  return error as E;
}

/** Whether an error is damage whose message names all of it. */
export const isDamageOf =
  (...names: readonly string[]) =>
  (error: unknown): boolean =>
    error instanceof DamagedError && names.every((name) => error.message.includes(name));
