/** The log in LMDB keeps the port's contract, also across threads and closings. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../../src/limits.js';
import { newestMeta, withFile } from '../../../src/store/files/lmdb-file.js';
import { LmdbLogReader, logFolderOf, openLogReader, tryWriting } from '../../../src/store/log/lmdb-log.js';
import { keyOfSeq, openLogEnvironment } from '../../../src/store/log/log-environment.js';
import { acquireFolder } from '../../../src/store/ownership/owner.js';
import { verifyFolder } from '../../../src/workers/verify/verify-folder.js';
import { closing } from '../../support/closing.js';
import { temporaryFolder } from '../../support/process.js';
import { deadProcess } from '../dead-process.js';
import { acquiredLog, batchOf, isDamageOf, rejection, testLog } from '../log-contract.js';

/** The number of the kind of a leaf page, at byte 18 of its header. */
const LEAF_KIND = 2;
const newestTxnOf = (file: string) => withFile(file, newestMeta)?.txn ?? 0;

/** A folder with a log of some batches, closed. */
async function leftLog(commits = 20, batchesEach = 1) {
  const dir = temporaryFolder();
  const writer = await acquireFolder(dir);
  for (let seq = 1; seq <= commits * batchesEach; seq += batchesEach)
    await writer.appendAll(Array.from({ length: batchesEach }, (_, i) => batchOf(seq + i, 3_000)));
  const { pageBytes } = writer.pages();
  await writer.close();
  return { dir, file: join(dir, 'log', 'data.mdb'), pageBytes };
}

function count(log: LmdbLogReader): void {
  for (const _ of log.checkCount());
}

/** Changes a closed log, and asserts the damage that a reader finds as it opens the log or reads all of it. */
function assertDamaged(
  { dir, file }: Awaited<ReturnType<typeof leftLog>>,
  content: Buffer,
  what = '',
  read: (log: LmdbLogReader) => unknown = (log) => log.from(0, 100, 1e9),
): void {
  writeFileSync(file, content);
  assert.throws(() => read(openLogReader(dir)), isDamageOf(file, what));
}

const ownerFinds = async ({ dir, file }: Awaited<ReturnType<typeof leftLog>>, what = '') =>
  assert.ok(isDamageOf(file, what)(await rejection(acquireFolder(dir))));

/** Changes each leaf page of a log: `at` is the offset of its header. */
function eachLeaf(content: Buffer, pageBytes: number, change: (at: number) => void): void {
  for (let at = 2 * pageBytes; at < content.length; at += pageBytes)
    if (content.readUInt16LE(at + 18) === LEAF_KIND) change(at);
}

/** Changes the key of a batch in every page that ever held it, behind its length. */
function eachKey(content: Buffer, seq: number, change: (at: number) => void): void {
  const key = keyOfSeq(seq);
  for (let at = content.indexOf(key); at >= 0; at = content.indexOf(key, at + 1))
    if (content.readUInt16LE(at - 2) === key.length) change(at);
}

testLog('lmdb log', async () => {
  const dir = temporaryFolder();
  return acquiredLog(
    () => acquireFolder(dir, deadProcess()),
    () => openLogReader(dir),
  );
});

test('a commit begins in the same turn of the event loop, without waiting for later reads', async () => {
  const { dir, file } = await leftLog();
  await using writer = closing(await acquireFolder(dir));
  const rest = new Int32Array(new SharedArrayBuffer(4));
  for (let seq = 21; seq <= 25; seq += 1) {
    const before = newestTxnOf(file);
    const appended = writer.append(batchOf(seq), []);
    // The event loop stands still meanwhile.
    const giveUpMs = performance.now() + 10_000;
    while (newestTxnOf(file) === before && performance.now() < giveUpMs) Atomics.wait(rest, 0, 0, 1);
    assert.ok(newestTxnOf(file) > before);
    await appended;
  }
});

test('a reader of a folder without a log names the missing file', () => {
  const dir = temporaryFolder();
  assert.throws(() => openLogReader(dir), isDamageOf(join(dir, 'log', 'data.mdb')));
});

test('pages that make no sense to LMDB are damage of a named file, to a reader and to the next owner', async () => {
  const left = await leftLog();
  const content = readFileSync(left.file);
  // A leaf that says that it is a run of a value's pages.
  eachLeaf(content, left.pageBytes, (at) => content.writeUInt16LE(4, at + 18));
  assertDamaged(left, content, '', (log) => log.last());
  await ownerFinds(left);
});

test('a meta page that lost its number is damage, or the state of an older commit would come back', async () => {
  const left = await leftLog();
  const { pageBytes } = left;
  const whole = readFileSync(left.file);
  const txnAt = 24 + 128;
  const newest = whole.readBigUInt64LE(txnAt) > whole.readBigUInt64LE(pageBytes + txnAt) ? 0 : pageBytes;
  for (const lost of [0n, 1n]) {
    const content = Buffer.from(whole);
    content.writeBigUInt64LE(lost, newest + txnAt);
    assertDamaged(left, content, 'meta pages');
    await ownerFinds(left, 'meta pages');
  }
});

test('a reader that is alone changes nothing, and a database that cannot be found is damage', async () => {
  const { dir, file } = await leftLog();
  const whole = readFileSync(file);
  const reader = openLogReader(dir, { alone: true });
  assert.equal(reader.from(0, 100, 1e9).length, 20);
  await reader.close();
  assert.is(Buffer.compare(readFileSync(file), whole), 0);
  const content = Buffer.from(whole.toString('latin1').replaceAll('moved', 'mOved'), 'latin1');
  assert.not.equal(content, whole);
  writeFileSync(file, content);
  assert.throws(() => openLogReader(dir, { alone: true }), isDamageOf(file, '"moved" is missing'));
  assert.match((await verifyFolder(dir, 'full')).faults[0]!, '"moved" is missing');
  assert.is(Buffer.compare(readFileSync(file), content), 0);
});

test('a log whose pages hold fewer batches than it counts is damage', async () => {
  const left = await leftLog();
  count(openLogReader(left.dir));
  const content = readFileSync(left.file);
  // Each leaf with several nodes loses the last of them: 2 bytes each, up to what stands at byte 20.
  eachLeaf(content, left.pageBytes, (at) => {
    const end = content.readUInt16LE(at + 20);
    if (end > 8) content.writeUInt16LE(end - 2, at + 20);
  });
  assertDamaged(left, content, 'batches', count);
});

test('counting the batches reads few keys in one transaction', async () => {
  const dir = temporaryFolder();
  const writer = await acquireFolder(dir);
  const batches = 2 * limits.catchUpBatches + 7;
  await writer.appendAll(Array.from({ length: batches }, (_, i) => batchOf(i + 1)));
  await writer.close();
  const environment = openLogEnvironment(logFolderOf(dir));
  const { root, log } = environment;
  const read: number[] = [];
  let inOne = 0;
  const getKeys = log.getKeys.bind(log);
  log.getKeys = (range) =>
    getKeys(range).map((key) => {
      inOne += 1;
      return key;
    });
  const resetReadTxn = root.resetReadTxn.bind(root);
  root.resetReadTxn = () => {
    read.push(inOne);
    inOne = 0;
    resetReadTxn();
  };
  await using reader = closing(new LmdbLogReader(environment));
  count(reader);
  assert.ok(read.reduce((sum, keys) => sum + keys) >= batches);
  assert.ok(Math.max(...read) <= limits.catchUpBatches, `${read}`);
});

test('a log that is written to during the count is intact, and its free space can be overwritten', async () => {
  const dir = temporaryFolder();
  await using writer = closing(await acquireFolder(dir));
  const batches = 2 * limits.catchUpBatches + 7;
  await writer.appendAll(Array.from({ length: batches }, (_, i) => batchOf(i + 1, 3_000)));
  const environment = openLogEnvironment(logFolderOf(dir));
  await using reader = closing(new LmdbLogReader(environment));
  let steps = 0;
  for (const _ of reader.checkCount()) {
    steps += 1;
    // Lines of process, thread and transaction: none of a reader that is at rest.
    assert.match(environment.root.readerList(), /^ *\d+ [0-9a-f]+ -$/m);
    assert.not.match(environment.root.readerList(), /^ *\d+ [0-9a-f]+ \d+$/m);
    const rewritten = [1, batches].map((firstSeq) => ({ firstSeq, bytes: batchOf(steps, 3_000).bytes }));
    await writer.append(batchOf(batches + steps), rewritten);
    await writer.scrub();
  }
  assert.is(steps, 3);
});

test('a key out of order at the end of a step of the count is damage, and the count ends', async () => {
  for (const steps of [1, 2]) {
    const left = await leftLog(3, limits.catchUpBatches);
    const content = readFileSync(left.file);
    eachKey(content, steps * limits.catchUpBatches, (at) => content.set(keyOfSeq(3), at));
    assertDamaged(left, content, '', count);
  }
});

test('a batch whose key is out of its order is damage, and no end of the log', async () => {
  const left = await leftLog();
  const content = readFileSync(left.file);
  // The highest of its 8 bytes changes.
  eachKey(content, 19, (at) => content.writeUInt8(8, at));
  assertDamaged(left, content, 'misplaced');
});

test('a tried write is aborted, to the last byte', async () => {
  const { dir, file } = await leftLog();
  const whole = readFileSync(file);
  await tryWriting(dir);
  assert.is(Buffer.compare(readFileSync(file), whole), 0);
  await using writer = closing(await acquireFolder(dir));
  assert.equal(writer.from(0, 100, 1e9).length, 20);
});

test("an owner's record that makes no sense is damage of a named file", async () => {
  const left = await leftLog();
  writeFileSync(left.file, Buffer.from(readFileSync(left.file, 'latin1').replaceAll('"pid":', '"pid";'), 'latin1'));
  await ownerFinds(left, "owner's record");
});

test('reading does not make the file grow while batches are rewritten', async () => {
  const dir = temporaryFolder();
  await using writer = closing(await acquireFolder(dir));
  await using reader = closing(openLogReader(dir));
  for (let seq = 1; seq <= 20; seq += 1) await writer.append(batchOf(seq, 5_000), []);
  const { lastPage } = writer.pages();
  for (let round = 0; round < 200; round += 1) {
    reader.last();
    reader.at(10);
    reader.from(0, 5, 1e6);
    await writer.append(null, [{ firstSeq: 10, bytes: batchOf(round, 5_000).bytes }]);
  }
  // A rewrite of 2 pages and its leaf, root and free list: each commit can use what the one before the last freed.
  assert.ok(writer.pages().lastPage <= lastPage + 40, `${lastPage} -> ${writer.pages().lastPage}`);
});

test('a reader with a bound of time returns fewer batches after it, and goes on where it ended', async () => {
  const dir = temporaryFolder();
  await using writer = closing(await acquireFolder(dir));
  await using reader = closing(openLogReader(dir, { readMs: 1 }));
  for (let seq = 1; seq <= 4; seq += 1) await writer.append(batchOf(seq, 100), []);
  const seqs: number[] = [];
  const take = ({ firstSeq }: { readonly firstSeq: number }) => {
    seqs.push(firstSeq);
    for (const startedAt = performance.now(); performance.now() - startedAt < 2; );
  };
  for (const first of [1, 2, 3]) assert.is(reader.borrow(first, 100, 1e6, take), 1);
  assert.equal(seqs, [1, 2, 3]);
  assert.is(writer.borrow(1, 100, 1e6, take), 4);
});

test.run();
