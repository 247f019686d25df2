/** A commit is durable once its data is synced: what a power cut does to LMDB's meta page takes no acknowledged batch. */
import { closeSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DamagedError, OwnerLostError, type StoredBatch } from '../../src/group/ports.js';
import { KEPT_KEY, KEPT_LAYOUT, KeptBatches } from '../../src/store/kept-batches.js';
import { logFolderOf, openLogReader } from '../../src/store/lmdb-log.js';
import type { LmdbLogWriter } from '../../src/store/lmdb-log-writer.js';
import { openLogEnvironment } from '../../src/store/log-environment.js';
import { claimFolder } from '../../src/store/owner.js';
import { verifyFolder } from '../../src/workers/verify-folder.js';
import { batchOf, rejection } from '../contracts/log.js';
import { deadProcess, removeFolder, temporaryFolder } from './temporary-folder.js';

/** The longest batch that is kept: a slot without what stands before a batch. */
const KEPT_BYTES_MAX = 65_536 - 32;

const fileOf = (dir: string) => join(dir, 'log', 'data.mdb');

/** Closes the log as a power cut does that comes right after `commit`: nothing synced LMDB's meta page. */
async function cutAfter(dir: string, writer: LmdbLogWriter, commit: () => Promise<unknown>): Promise<void> {
  const { pageBytes } = writer.pages();
  const before = Buffer.alloc(2 * pageBytes);
  const reading = openSync(fileOf(dir), 'r');
  readSync(reading, before, 0, before.length, 0);
  closeSync(reading);
  await commit();
  await writer.abandon();
  const writing = openSync(fileOf(dir), 'r+');
  writeSync(writing, before, 0, before.length, 0);
  closeSync(writing);
}

async function contentOf(dir: string): Promise<StoredBatch[]> {
  const reader = openLogReader(dir);
  const batches = reader.from(0, 1_000, 1e9);
  await reader.close();
  return batches;
}

async function logOf(dir: string, count: number): Promise<LmdbLogWriter> {
  const writer = await claimFolder(dir, deadProcess());
  for (let seq = 1; seq <= count; seq += 1) await writer.append(batchOf(seq, 300), []);
  return writer;
}

test('the batch of a commit that a power cut took back is there again once the folder is claimed, at every length', async () => {
  for (const before of [0, 1, 2, 7]) {
    for (const bytes of [1, 300, 5_000, KEPT_BYTES_MAX]) {
      const dir = temporaryFolder();
      const writer = await logOf(dir, before);
      const last = batchOf(before + 1, bytes);
      await cutAfter(dir, writer, () => writer.append(last, []));
      assert.is((await contentOf(dir)).length, before);
      const next = await claimFolder(dir, deadProcess());
      assert.equal(next.last(), last);
      assert.is(next.from(0, 100, 1e9).length, before + 1);
      await next.append(batchOf(before + 2), []);
      await next.close();
      assert.equal((await contentOf(dir)).slice(-2), [last, batchOf(before + 2)]);
      removeFolder(dir);
    }
  }
});

test('a power cut amid the claim that brings a batch back leaves it to the next one', async () => {
  const dir = temporaryFolder();
  const writer = await logOf(dir, 3);
  const last = batchOf(4, 2_000);
  await cutAfter(dir, writer, () => writer.append(last, []));
  const taken = readFileSync(fileOf(dir));
  const { sync } = KeptBatches.prototype;
  KeptBatches.prototype.sync = () => Promise.reject(new Error('the machine loses power'));
  try {
    for (let cut = 0; cut < 3; cut += 1) {
      assert.match(String(await rejection(claimFolder(dir, deadProcess()))), 'loses power');
      const written = readFileSync(fileOf(dir));
      assert.is.not(Buffer.compare(written, taken), 0);
      // All of the claim is on disk but for the meta pages.
      taken.copy(written, 0, 0, 2 * 4_096);
      writeFileSync(fileOf(dir), written);
    }
  } finally {
    KeptBatches.prototype.sync = sync;
  }
  const final = await claimFolder(dir, deadProcess());
  assert.equal(final.from(4, 10, 1e9), [last]);
  await final.close();
  removeFolder(dir);
});

test('a batch that is too long to be kept, several at once, and a rewrite are on disk with their meta page', async () => {
  const dir = temporaryFolder();
  const writer = await logOf(dir, 4);
  const { sync } = KeptBatches.prototype;
  let syncs = 0;
  KeptBatches.prototype.sync = async function (this: KeptBatches) {
    syncs += 1;
    await sync.call(this);
  };
  const syncsOf = async (act: () => Promise<void>) => {
    syncs = 0;
    await act();
    return syncs;
  };
  try {
    assert.is(await syncsOf(() => writer.append(batchOf(5, KEPT_BYTES_MAX), [])), 0);
    assert.is(await syncsOf(() => writer.append(batchOf(6, KEPT_BYTES_MAX + 1), [])), 1);
    assert.is(await syncsOf(() => writer.appendAll([batchOf(7), batchOf(8)])), 1);
    assert.is(await syncsOf(() => writer.append(null, [batchOf(3, 250)])), 1);
    assert.is(await syncsOf(() => writer.append(batchOf(9), [batchOf(2, 250)])), 1);
    assert.is(await syncsOf(() => writer.scrub()), 1);
    assert.is(await syncsOf(() => writer.close()), 1);
  } finally {
    KeptBatches.prototype.sync = sync;
  }
  removeFolder(dir);
});

test('nothing is brought back where nothing is missing, and no batch twice', async () => {
  const dir = temporaryFolder();
  const writer = await logOf(dir, 5);
  await writer.abandon();
  const whole = await contentOf(dir);
  for (let start = 0; start < 5; start += 1) await (await claimFolder(dir, deadProcess())).abandon();
  assert.equal(await contentOf(dir), whole);
  removeFolder(dir);
});

test('a batch that is not whole is not brought back', async () => {
  const dir = temporaryFolder();
  const writer = await logOf(dir, 3);
  const last = batchOf(4, 2_000);
  await cutAfter(dir, writer, () => writer.append(last, []));
  const content = readFileSync(fileOf(dir));
  for (let at = content.indexOf(last.bytes); at >= 0; at = content.indexOf(last.bytes, at + 1)) {
    content.writeUInt8(content.readUInt8(at + 1_999) ^ 1, at + 1_999);
  }
  writeFileSync(fileOf(dir), content);
  const next = await claimFolder(dir, deadProcess());
  assert.is(next.last()?.firstSeq, 3);
  await next.close();
  removeFolder(dir);
});

test('what a fenced owner kept is not brought back, and takes nothing from what the next one keeps', async () => {
  const dir = temporaryFolder();
  const fenced = await logOf(dir, 3);
  const owner = await claimFolder(dir, deadProcess());
  assert.instance(await rejection(fenced.append(batchOf(4, 700), [])), OwnerLostError);
  await fenced.abandon();
  await owner.abandon();
  const third = await claimFolder(dir, deadProcess());
  assert.is(third.last()?.firstSeq, 3);
  const fourth = await claimFolder(dir, deadProcess());
  const last = batchOf(4, 800);
  await cutAfter(dir, fourth, async () => {
    await fourth.append(last, []);
    assert.instance(await rejection(third.append(batchOf(4, 900), [])), OwnerLostError);
    // As one that was paused behind its last look, which no commit would tell apart.
    const paused = new KeptBatches(fileOf(dir), third.epoch);
    for (const late of [1, 2, 3]) paused.keep(batchOf(4, 900 + late), 3);
    paused.wipe();
    await paused.sync();
    paused.close();
    await third.abandon();
  });
  const fifth = await claimFolder(dir, deadProcess());
  assert.equal(fifth.last(), last);
  await fifth.close();
  removeFolder(dir);
});

test('of what was kept nothing stays in the file behind a rewrite and a scrub', async () => {
  const dir = temporaryFolder();
  const writer = await claimFolder(dir, deadProcess());
  const secret = Buffer.from('the bytes of a player who is erased'.repeat(3));
  await writer.append({ firstSeq: 1, bytes: Buffer.concat([Buffer.alloc(900), secret]) }, []);
  await writer.append(batchOf(2, 40), []);
  assert.ok(readFileSync(fileOf(dir)).includes(secret));
  await writer.append(null, [{ firstSeq: 1, bytes: Buffer.alloc(900) }]);
  await writer.scrub();
  assert.not.ok(readFileSync(fileOf(dir)).includes(secret));
  await writer.close();
  removeFolder(dir);
});

test('what an owner kept that died between a rewrite and its wipe is gone once the next one has scrubbed', async () => {
  const dir = temporaryFolder();
  const writer = await claimFolder(dir, deadProcess());
  const secret = Buffer.from('the bytes of a player who is erased'.repeat(3));
  await writer.append({ firstSeq: 1, bytes: Buffer.concat([Buffer.alloc(900), secret]) }, []);
  const { wipe } = KeptBatches.prototype;
  KeptBatches.prototype.wipe = () => {
    throw new Error('killed');
  };
  try {
    await rejection(writer.append(null, [{ firstSeq: 1, bytes: Buffer.alloc(900) }]));
  } finally {
    KeptBatches.prototype.wipe = wipe;
  }
  await writer.abandon();
  const next = await claimFolder(dir, deadProcess());
  await next.scrub();
  assert.not.ok(readFileSync(fileOf(dir)).includes(secret));
  await next.close();
  removeFolder(dir);
});

test('a shorter batch leaves nothing of the longer one that was kept in its place', async () => {
  const dir = temporaryFolder();
  const writer = await claimFolder(dir, deadProcess());
  const secret = Buffer.from('the end of a long batch');
  await writer.append({ firstSeq: 1, bytes: Buffer.concat([Buffer.alloc(9_000), secret]) }, []);
  const occurrences = () => readFileSync(fileOf(dir)).toString('latin1').split(secret.toString()).length - 1;
  assert.is(occurrences(), 2);
  for (const seq of [2, 3]) await writer.append(batchOf(seq, 40), []);
  assert.is(occurrences(), 1);
  await writer.close();
  removeFolder(dir);
});

test('a log of an earlier release gets its place for kept batches with the first claim', async () => {
  const dir = temporaryFolder();
  const writer = await logOf(dir, 3);
  await writer.close();
  const environment = openLogEnvironment(logFolderOf(dir));
  environment.root.transactionSync(() => environment.meta.removeSync(KEPT_KEY));
  await environment.root.close();
  const next = await claimFolder(dir, deadProcess());
  const last = batchOf(4);
  await cutAfter(dir, next, () => next.append(last, []));
  const final = await claimFolder(dir, deadProcess());
  assert.equal(final.last(), last);
  await final.close();
  removeFolder(dir);
});

test('pages on the way to what was kept that make no sense are damage of a named file', async () => {
  const dir = temporaryFolder();
  await (await logOf(dir, 3)).close();
  const content = readFileSync(fileOf(dir));
  // The run of pages of the value says that it is another page.
  const flagsAt = 18;
  for (let at = 2 * 4_096; at < content.length; at += 4_096) {
    if (content.readUInt16LE(at + flagsAt) === 4 && content.readUInt32LE(at + 20) === 65)
      content.writeUInt32LE(66, at + 20);
  }
  writeFileSync(fileOf(dir), content);
  const error = await rejection(claimFolder(dir, deadProcess()));
  assert.instance(error, DamagedError);
  assert.match((error as Error).message, fileOf(dir));
  assert.match((await verifyFolder(dir, 'start')).faults.join(), fileOf(dir));
  removeFolder(dir);
});

test('a place for kept batches of another size is written to by nobody', async () => {
  const dir = temporaryFolder();
  await (await logOf(dir, 3)).close();
  const environment = openLogEnvironment(logFolderOf(dir));
  environment.root.transactionSync(() => environment.meta.putSync(KEPT_KEY, Buffer.alloc(100_000), KEPT_LAYOUT));
  await environment.root.close();
  const error = await rejection(claimFolder(dir, deadProcess()));
  assert.instance(error, DamagedError);
  assert.match((error as Error).message, 'another size');
  removeFolder(dir);
});

test.run();
