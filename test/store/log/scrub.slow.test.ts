/** After a scrub a byte search of the log's file finds nothing of what was replaced, and everything of what was not. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ScrubDeferredError, type StoredBatch } from '../../../src/group/ports/storage.js';
import { type LmdbLogWriter, logFolderOf } from '../../../src/store/log/lmdb-log.js';
import { openLogEnvironment } from '../../../src/store/log/log-environment.js';
import { scrubFreePages } from '../../../src/store/log/scrub.js';
import { acquireFolder } from '../../../src/store/ownership/owner.js';
import { closing } from '../../support/closing.js';
import { temporaryFolder } from '../../support/process.js';
import { batchOf } from '../log-contract.js';
import { assertErased, blanks, erasureOf, fill, marked, markedBatches } from './marked-batches.js';

const readerEntry = fileURLToPath(new URL('../read-log.js', import.meta.url));
const withoutDescriptors = fileURLToPath(new URL('../scrub-without-descriptors.js', import.meta.url));

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

/** Scrubs while batches are appended without a pause, at most so many; returns how many were. */
async function scrubBeside(writer: LmdbLogWriter, most: number, batch: (i: number) => StoredBatch): Promise<number> {
  let isScrubbed = false;
  let appended = 0;
  const beside = (async () => {
    for (; !isScrubbed && appended < most; appended += 1) await writer.append(batch(appended), []);
  })();
  await writer.scrub();
  isScrubbed = true;
  await beside;
  return appended;
}

test('a scrub leaves no replaced byte in values of every size, during reads and appends', async () => {
  const dir = temporaryFolder();
  await using writer = closing(await acquireFolder(dir));
  await fill(writer, 1, 300);
  const worker = new Worker(readerEntry, { workerData: dir });
  await new Promise((resolve) => worker.once('message', resolve));
  worker.unref();
  const { seqs, rewrites } = erasureOf(1, 300);
  for (let i = 0; i < rewrites.length; i += 10) {
    await writer.append(batchOf(400 + i * 10), rewrites.slice(i, i + 10));
    await fill(writer, 401 + i * 10, 3);
  }
  await Promise.all([writer.scrub(), fill(writer, 20_000, 40)]);
  const untouched = upTo(300).filter((seq) => !seqs.includes(seq));
  assertErased(dir, seqs, [...untouched, ...upTo(40).map((i) => 19_999 + i)]);
  assert.equal(writer.at(1)?.bytes, new Uint8Array(rewrites[0]!.bytes));
  // As a pool ends its own: a thread that is ended amid a call into LMDB can take the whole process along.
  worker.ref();
  worker.postMessage('end');
  await once(worker, 'message');
  await worker.terminate();
});

/** How many pages the file grows by in so many rounds of an erasure, each scrubbed. */
async function grownBy(writer: LmdbLogWriter, firstSeq: number, rounds: number, replaced: number): Promise<number> {
  const before = writer.pages().lastPage;
  for (let round = 0; round < rounds; round += 1) {
    // Around each erasure stand its intent and its end.
    await writer.append(batchOf(firstSeq + round * 2), []);
    await writer.append(null, [{ firstSeq: 7, bytes: Buffer.alloc(replaced, '-') }]);
    await writer.append(batchOf(firstSeq + round * 2 + 1), []);
    await writer.scrub();
  }
  return writer.pages().lastPage - before;
}

test('erasing and scrubbing over and over makes the file no larger than the batches that are added', async () => {
  const dir = temporaryFolder();
  await using writer = closing(await acquireFolder(dir));
  await fill(writer, 1, 100);
  await writer.scrub();
  // 69 pages of 280,000 bytes, taken twice while the old ones cannot be used yet, and again while free ones lie apart.
  const first = await grownBy(writer, 1_000, 20, 280_000);
  assert.ok(first <= 6 * 69, `${first} pages at first`);
  // 60 batches of some 40 bytes take a page or two, and each of these can take a branch's along.
  const grown = await grownBy(writer, 2_000, 30, 280_000);
  assert.ok(grown <= 4, `${grown} pages later`);
});

test('a file with much free space does not grow further, however often it is scrubbed', async () => {
  const dir = temporaryFolder();
  await using writer = closing(await acquireFolder(dir));
  const count = 150;
  for (let seq = 1; seq <= count; seq += 1)
    await writer.append({ firstSeq: seq, bytes: Buffer.alloc(200_000, '.') }, []);
  await writer.append(null, blanks(upTo(count), 3_000));
  await writer.append(batchOf(count + 1), []);
  await writer.scrub();
  assert.ok(writer.pages().freePages > 7_000, 'a list of free pages takes 14 of them at least');
  const grown = await grownBy(writer, 1_000, 10, 2_900);
  assert.ok(grown <= 1, `${grown} pages`);
});

/** Batches of one page each, appended in few commits. */
async function fillPages(writer: LmdbLogWriter, count: number): Promise<void> {
  for (let from = 1; from <= count; from += 1_000) {
    const seqs = Array.from({ length: 1_000 }, (_, i) => from + i);
    await Promise.all(seqs.map((seq) => writer.append({ firstSeq: seq, bytes: marked(seq, 3_000) }, [])));
  }
}

test('a scrub continues while single pages are free, though appends beside it make the file grow', async () => {
  const dir = temporaryFolder();
  await using writer = closing(await acquireFolder(dir));
  const count = 8_000;
  await fillPages(writer, count);
  // Every second page of the file is free afterwards, so that a run of pages finds no place but at the end.
  const erased = Array.from({ length: count / 2 }, (_, i) => 2 * i + 2);
  await writer.append(null, blanks(erased, 3_000));
  const appended = await scrubBeside(writer, 500, (i) => ({
    firstSeq: count + 1 + i,
    bytes: Buffer.alloc(300_000, '.'),
  }));
  assert.ok(appended < 500, 'the scrub ended while the appends went on');
  const left = markedBatches(dir);
  assert.not(
    erased.some((seq) => left.has(seq)),
    'erased values that are left',
  );
  assert.is(left.size, count / 2, 'values that were kept');
});

test('a scrub ends while small batches are appended without a pause', async () => {
  const dir = temporaryFolder();
  await using writer = closing(await acquireFolder(dir));
  await fill(writer, 1, 100);
  await writer.append(null, erasureOf(1, 100).rewrites);
  const before = writer.pages().lastPage;
  await scrubBeside(writer, 2_000, (i) => batchOf(1_000 + i, 300));
  assert.ok(writer.pages().lastPage - before < 400, `${writer.pages().lastPage - before} pages`);
  assertErased(dir, erasureOf(1, 100).seqs, []);
});

test('a reader that begins during a scrub defers it without growth of the file', async () => {
  const dir = temporaryFolder();
  await using writer = closing(await acquireFolder(dir));
  await fillPages(writer, 2_000);
  const seqs = Array.from({ length: 1_000 }, (_, i) => 2 * i + 1);
  await writer.append(null, blanks(seqs, 3_000));
  const environment = openLogEnvironment(logFolderOf(dir));
  const { lastPage } = writer.pages();
  let reader: ReturnType<typeof environment.root.useReadTransaction> | undefined;
  let commits = 0;
  const commit = async (write: () => Promise<boolean>) => {
    await write();
    commits += 1;
    if (commits < 4) return;
    reader ??= environment.root.useReadTransaction();
    environment.log.get(Buffer.alloc(8), { transaction: reader });
  };
  const times = { scrubReaderWaitMs: 20, scrubReaderLookMs: 5 };
  await scrubFreePages(environment, commit, times).catch((error) => assert.instance(error, ScrubDeferredError));
  const grown = writer.pages().lastPage - lastPage;
  assert.ok(grown < 400, `${grown} pages`);
  reader?.done();
  await writer.scrub();
  const left = markedBatches(dir);
  assert.not(seqs.some((seq) => left.has(seq)));
  await environment.root.close();
});

test('a scrub that finds no descriptor left is put off, and ends nothing', async () => {
  const dir = temporaryFolder();
  const limited = ['-c', 'ulimit -n 100 && exec "$0" "$@"', process.execPath, withoutDescriptors, dir];
  const child = spawn('sh', limited, { stdio: ['ignore', 'pipe', 'inherit'] });
  assert.is(await text(child.stdout), 'without: ScrubDeferredError\nwith: done\n');
});

test.run();
