/** After a scrub a byte search of the log's file finds nothing of what was replaced, and everything of what was not. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { OwnerLostError, ScrubDeferredError } from '../../../src/group/ports/storage.js';
import { checkEnvironmentFile } from '../../../src/store/files/lmdb-file.js';
import { type LmdbLogWriter, logFolderOf } from '../../../src/store/log/lmdb-log.js';
import { openLogEnvironment } from '../../../src/store/log/log-environment.js';
import { scrubFreePages } from '../../../src/store/log/scrub.js';
import { claimFolder } from '../../../src/store/ownership/owner.js';
import { batchOf, rejection } from '../log-contract.js';
import { deadProcess, removeFolder, temporaryFolder } from '../temporary-folder.js';

const readerEntry = fileURLToPath(new URL('../read-log.js', import.meta.url));
const withoutDescriptors = fileURLToPath(new URL('../scrub-without-descriptors.js', import.meta.url));
const MARK = /mark-\d{6}-\d{4}/g;

/** Bytes full of marks that tell the batch and the place: every 60 bytes, or every 2,000 of a large one. */
function marked(seq: number, size: number): Buffer {
  const bytes = Buffer.alloc(size, '.');
  const step = size > 4_000 ? 2_000 : 60;
  for (let at = 0, n = 0; at + 16 <= size; at += step, n += 1) {
    bytes.write(`mark-${String(seq).padStart(6, '0')}-${String(n).padStart(4, '0')}`, at);
  }
  return bytes;
}

function marksIn(bytes: Buffer): Set<string> {
  return new Set(bytes.toString('latin1').match(MARK));
}

function marksInFile(dir: string): Set<string> {
  return marksIn(readFileSync(join(logFolderOf(dir), 'data.mdb')));
}

/** Small values share a leaf page, those above 2,018 bytes have overflow pages of their own. */
const SIZES = [40, 200, 700, 1_900, 2_010, 2_060, 5_000, 300_000];

async function fill(writer: LmdbLogWriter, from: number, count: number): Promise<void> {
  for (let seq = from; seq < from + count; seq += 1) {
    await writer.append({ firstSeq: seq, bytes: marked(seq, SIZES[seq % SIZES.length]!) }, []);
  }
}

/** Every third batch, whole or shorter or longer than it was. */
function erasureOf(from: number, count: number): { seqs: number[]; rewrites: { firstSeq: number; bytes: Buffer }[] } {
  const seqs = Array.from({ length: Math.floor(count / 3) }, (_, i) => from + i * 3);
  const newSize = (seq: number) => [20, SIZES[seq % SIZES.length]!, 2_500, 9_000][seq % 4]!;
  return { seqs, rewrites: seqs.map((seq) => ({ firstSeq: seq, bytes: Buffer.alloc(newSize(seq), '-') })) };
}

function assertErased(dir: string, erased: readonly number[], kept: readonly number[]): void {
  const found = marksInFile(dir);
  for (const seq of erased) {
    for (const mark of marksIn(marked(seq, SIZES[seq % SIZES.length]!))) assert.not(found.has(mark), `${mark} is left`);
  }
  for (const seq of kept) {
    for (const mark of marksIn(marked(seq, SIZES[seq % SIZES.length]!))) assert.ok(found.has(mark), `${mark} is lost`);
  }
}

test('without a scrub the replaced bytes stay in the file, which is why there is one', async () => {
  const dir = temporaryFolder();
  const writer = await claimFolder(dir);
  await fill(writer, 1, 60);
  await writer.append(null, erasureOf(1, 60).rewrites);
  assert.ok(marksInFile(dir).has('mark-000001-0000'));
  await writer.close();
  removeFolder(dir);
});

test('a scrub leaves no replaced byte in values of every size, during reads and appends', async () => {
  const dir = temporaryFolder();
  const writer = await claimFolder(dir);
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
  const kept = Array.from({ length: 300 }, (_, i) => i + 1).filter((seq) => !seqs.includes(seq));
  assertErased(dir, seqs, [...kept, ...Array.from({ length: 40 }, (_, i) => 20_000 + i)]);
  assert.equal(writer.at(1)?.bytes, new Uint8Array(rewrites[0]!.bytes));
  // As a pool ends its own: a thread that is ended amid a call into LMDB can take the whole process along.
  worker.ref();
  worker.postMessage('end');
  await once(worker, 'message');
  await worker.terminate();
  await writer.close();
  removeFolder(dir);
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
  const writer = await claimFolder(dir);
  await fill(writer, 1, 100);
  await writer.scrub();
  // 69 pages of 280,000 bytes, taken twice while the old ones cannot be used yet, and again while free ones lie apart.
  const first = await grownBy(writer, 1_000, 20, 280_000);
  assert.ok(first <= 6 * 69, `${first} pages at first`);
  // 60 batches of some 40 bytes take a page or two, and each of these can take a branch's along.
  const grown = await grownBy(writer, 2_000, 30, 280_000);
  assert.ok(grown <= 4, `${grown} pages later`);
  await writer.close();
  removeFolder(dir);
});

test('a file with much free space does not grow further, however often it is scrubbed', async () => {
  const dir = temporaryFolder();
  const writer = await claimFolder(dir);
  const count = 150;
  for (let seq = 1; seq <= count; seq += 1)
    await writer.append({ firstSeq: seq, bytes: Buffer.alloc(200_000, '.') }, []);
  await writer.append(
    null,
    Array.from({ length: count }, (_, i) => ({ firstSeq: i + 1, bytes: Buffer.alloc(3_000, '-') })),
  );
  await writer.append(batchOf(count + 1), []);
  await writer.scrub();
  assert.ok(writer.pages().freePages > 7_000, 'a list of free pages takes 14 of them at least');
  const grown = await grownBy(writer, 1_000, 10, 2_900);
  assert.ok(grown <= 1, `${grown} pages`);
  await writer.close();
  removeFolder(dir);
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
  const writer = await claimFolder(dir);
  const count = 8_000;
  await fillPages(writer, count);
  // Every second page of the file is free afterwards, so that a run of pages finds no place but at the end.
  const erased = Array.from({ length: count / 2 }, (_, i) => 2 * i + 2);
  const rewrites = erased.map((seq) => ({ firstSeq: seq, bytes: Buffer.alloc(3_000, '-') }));
  await writer.append(null, rewrites);
  let scrubbed = false;
  let appended = 0;
  const beside = (async () => {
    for (; !scrubbed && appended < 500; appended += 1) {
      await writer.append({ firstSeq: count + 1 + appended, bytes: Buffer.alloc(300_000, '.') }, []);
    }
  })();
  await writer.scrub();
  scrubbed = true;
  await beside;
  assert.ok(appended < 500, 'the scrub ended while the appends went on');
  const batches = [...marksInFile(dir)].map((mark) => Number(mark.slice(5, 11)));
  assert.equal(
    [...new Set(batches)].filter((seq) => seq % 2 === 0),
    [],
    'erased values that are left',
  );
  assert.is(new Set(batches).size, count / 2, 'values that were kept');
  await writer.close();
  removeFolder(dir);
});

test('a scrub ends while small batches are appended without a pause', async () => {
  const dir = temporaryFolder();
  const writer = await claimFolder(dir);
  await fill(writer, 1, 100);
  await writer.append(null, erasureOf(1, 100).rewrites);
  const before = writer.pages().lastPage;
  let scrubbed = false;
  const beside = (async () => {
    for (let seq = 1_000; !scrubbed && seq < 3_000; seq += 1) await writer.append(batchOf(seq, 300), []);
  })();
  await writer.scrub();
  scrubbed = true;
  await beside;
  assert.ok(writer.pages().lastPage - before < 400, `${writer.pages().lastPage - before} pages`);
  assertErased(dir, erasureOf(1, 100).seqs, []);
  await writer.close();
  removeFolder(dir);
});

test('a reader that stays on old pages defers the scrub, which erases once the reader ends', async () => {
  const dir = temporaryFolder();
  const writer = await claimFolder(dir);
  await fill(writer, 1, 60);
  const environment = openLogEnvironment(logFolderOf(dir));
  const reader = environment.root.useReadTransaction();
  environment.log.get(Buffer.alloc(8), { transaction: reader });
  const { seqs, rewrites } = erasureOf(1, 60);
  await writer.append(null, rewrites);
  const times = { scrubReaderWaitMs: 20, scrubReaderLookMs: 5 };
  const commit = async (write: () => Promise<boolean>) => void (await write());
  assert.ok((await rejection(scrubFreePages(environment, commit, times))) instanceof ScrubDeferredError);
  reader.done();
  await writer.scrub();
  assertErased(dir, seqs, []);
  await environment.root.close();
  await writer.close();
  removeFolder(dir);
});

test('a reader that begins during a scrub defers it without growth of the file', async () => {
  const dir = temporaryFolder();
  const writer = await claimFolder(dir);
  await fillPages(writer, 2_000);
  const seqs = Array.from({ length: 1_000 }, (_, i) => 2 * i + 1);
  await writer.append(
    null,
    seqs.map((seq) => ({ firstSeq: seq, bytes: Buffer.alloc(3_000, '-') })),
  );
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
  const batches = new Set([...marksInFile(dir)].map((mark) => Number(mark.slice(5, 11))));
  assert.equal(
    seqs.filter((seq) => batches.has(seq)),
    [],
  );
  await environment.root.close();
  await writer.close();
  removeFolder(dir);
});

test('a scrub also overwrites pages that an interrupted commit left behind the last page', async () => {
  const dir = temporaryFolder();
  const writer = await claimFolder(dir);
  await fill(writer, 1, 60);
  await writer.scrub();
  const file = join(logFolderOf(dir), 'data.mdb');
  appendFileSync(file, marked(999, 74 * 4_096 + 100));
  assert.ok(marksInFile(dir).has('mark-000999-0000'));
  const { seqs, rewrites } = erasureOf(1, 60);
  await writer.append(null, rewrites);
  await writer.scrub();
  assertErased(dir, [...seqs, 999], []);
  const bytes = readFileSync(file).toString('latin1');
  assert.not(bytes.includes('mark-000999'));
  await writer.close();
  removeFolder(dir);
});

test('an owner that died between erasing and scrubbing leaves the next one able to scrub', async () => {
  const dir = temporaryFolder();
  const first = await claimFolder(dir, deadProcess());
  await fill(first, 1, 90);
  const { seqs, rewrites } = erasureOf(1, 90);
  await first.append(null, rewrites);
  const second = await claimFolder(dir, deadProcess());
  await second.scrub();
  assertErased(dir, seqs, []);
  await second.close();
  await first.close();
  removeFolder(dir);
});

test('pages of zeros that an interrupted scrub left are given back at the next start', async () => {
  const dir = temporaryFolder();
  await (await claimFolder(dir)).close();
  const environment = openLogEnvironment(logFolderOf(dir));
  for (let page = 0; page < 100; page += 1)
    await environment.scrub.put(Buffer.from([0, 0, 0, page]), Buffer.alloc(4_072));
  const writer = await claimFolder(dir);
  assert.equal([...environment.scrub.getKeys()], []);
  await writer.close();
  await environment.root.close();
  removeFolder(dir);
});

test('a fenced owner cannot scrub', async () => {
  const dir = temporaryFolder();
  const first = await claimFolder(dir, deadProcess());
  await fill(first, 1, 5);
  const second = await claimFolder(dir, deadProcess());
  assert.ok((await rejection(first.scrub())) instanceof OwnerLostError);
  await first.close();
  await second.close();
  removeFolder(dir);
});

test('the file holds the pages it counts after every commit of scrubs and rewrites', async () => {
  const dir = temporaryFolder();
  const writer = await claimFolder(dir);
  for (let round = 0; round < 20; round += 1) {
    await fill(writer, round * 10 + 1, 10);
    await writer.append(null, erasureOf(round * 10 + 1, 10).rewrites);
    if (round % 4 === 0) await writer.scrub();
    checkEnvironmentFile(join(logFolderOf(dir), 'data.mdb'));
  }
  await writer.close();
  removeFolder(dir);
});

test('a scrub that finds no descriptor left is put off, and ends nothing', async () => {
  const dir = temporaryFolder();
  const limited = ['-c', 'ulimit -n 100 && exec "$0" "$@"', process.execPath, withoutDescriptors, dir];
  const child = spawn('sh', limited, { stdio: ['ignore', 'pipe', 'inherit'] });
  assert.is(await text(child.stdout), 'without: ScrubDeferredError\nwith: done\n');
  removeFolder(dir);
});

test.run();
