/** The pool of reads while its thread starts, and the pieces of the log that it reads. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BatchWriter, chainStart, NONCE_BYTES } from '../../../src/core/records/batch.js';
import { batchesIn } from '../../../src/group/backup/copy-store.js';
import { limits } from '../../../src/limits.js';
import { claimFolder, epochOf } from '../../../src/store/ownership/owner.js';
import { LmdbSnapshotStore } from '../../../src/store/snapshots/lmdb-snapshots.js';
import { PiscinaPool } from '../../../src/workers/pool/piscina-pool.js';
import { ReadQueue } from '../../../src/workers/pool/read-queue.js';
import { formedRecord, salt, t0 } from '../../support/given.js';
import { temporaryFolder } from '../../support/process.js';

test('the time in which the thread loads refuses no read that waits behind the first one', async () => {
  const dir = temporaryFolder();
  const file = join(dir, 'slow-reader.mjs');
  const waitMs = 50;
  // Loading takes several times as long as a read may wait for others.
  writeFileSync(
    file,
    `await new Promise((resolve) => setTimeout(resolve, ${8 * waitMs}));
    export const loaded = () => {};
    export const close = () => {};
    export const records = (seqs) => seqs;`,
  );
  const entry = pathToFileURL(file);
  const folder = { dir, salt: new Uint8Array(16) };
  const pool = new PiscinaPool(folder, { replica: entry, reader: entry }, undefined, new ReadQueue(1, waitMs));
  try {
    const reads = [1, 2, 3].map((seq) => pool.records([seq]));
    assert.equal(await Promise.all(reads), [[1], [2], [3]]);
  } finally {
    await pool.close();
    rmSync(dir, { recursive: true, force: true });
  }
});

test('a piece of the log comes in memory that the threads share, or alone if it is larger', async () => {
  const dir = temporaryFolder();
  const writer = await claimFolder(dir);
  const batch = (firstSeq: number, length: number) => ({ firstSeq, bytes: new Uint8Array(length).fill(firstSeq) });
  const large = batch(3, limits.copyPieceBytes);
  await writer.appendAll([batch(1, 10), batch(2, 20), large]);
  const pool = new PiscinaPool({ dir, salt: new Uint8Array(16) });
  const batchesFrom = async (firstSeq: number) => {
    const piece = await pool.logPiece({ firstSeq, limit: 10 });
    const isShared = piece.buffer instanceof SharedArrayBuffer;
    const batches = batchesIn(Buffer.from(piece)).map((one) => ({ ...one, bytes: new Uint8Array(one.bytes) }));
    return { isShared, batches };
  };
  try {
    assert.equal(await batchesFrom(1), { isShared: true, batches: [batch(1, 10), batch(2, 20)] });
    assert.equal(await batchesFrom(3), { isShared: false, batches: [large] });
    assert.equal(await batchesFrom(4), { isShared: true, batches: [] });
  } finally {
    await pool.close();
    await writer.close();
    rmSync(dir, { recursive: true, force: true });
  }
});

test('a task starts once the files hold every acknowledged batch, and is refused if they cannot', async () => {
  const dir = temporaryFolder();
  const file = join(dir, 'workers.mjs');
  writeFileSync(
    file,
    ['loaded', 'close', 'follow', 'records'].map((name) => `export const ${name} = () => 1;`).join(''),
  );
  const entry = pathToFileURL(file);
  const pool = new PiscinaPool({ dir, salt: new Uint8Array(16) }, { replica: entry, reader: entry });
  let store: () => void = () => undefined;
  const stored = new Promise<void>((resolve) => {
    store = resolve;
  });
  const done: string[] = [];
  try {
    pool.filesStored = () => stored.then(() => void done.push('stored'));
    await pool.check(() => undefined, new AbortController().signal).catch(() => undefined);
    assert.equal(done, [], 'a check of the files starts at once');
    const tasks = [pool.follow(7), pool.records([7])].map((task) => task.then(() => done.push('task')));
    store();
    await Promise.all(tasks);
    assert.equal(done, ['stored', 'stored', 'task', 'task']);
    pool.filesStored = () => Promise.reject(new Error('no space left'));
    for (const task of [pool.follow(7), pool.records([7])])
      assert.is(await task.catch((error: Error) => error.message), 'no space left');
  } finally {
    await pool.close();
    rmSync(dir, { recursive: true, force: true });
  }
});

/** A folder whose log has one record, the formation of a group, with its owner. */
async function formedFolder() {
  const dir = temporaryFolder();
  const writer = await claimFolder(dir);
  const batch = new BatchWriter();
  batch.add(formedRecord());
  const { bytes } = batch.seal(1, t0, Buffer.alloc(NONCE_BYTES), chainStart);
  await writer.appendAll([{ firstSeq: 1, bytes }]);
  return { dir, writer, pool: new PiscinaPool({ dir, salt }) };
}

test('a pool that is closed ends the snapshot under way, and writes none', async () => {
  for (const isClosed of [false, true]) {
    const { dir, writer, pool } = await formedFolder();
    const made = pool.snapshot(1, epochOf(dir)).then(
      (snapshot) => snapshot?.seq,
      () => 'ended',
    );
    if (!isClosed) await made;
    await pool.close();
    assert.equal([await made, new LmdbSnapshotStore(dir).list()], isClosed ? ['ended', []] : [1, [1]]);
    await writer.close();
    rmSync(dir, { recursive: true, force: true });
  }
});

test('on Linux the replica runs at the lowest priority, and the main thread at its own', async () => {
  if (process.platform !== 'linux') return;
  const { dir, writer, pool } = await formedFolder();
  const before = getPriority();
  await pool.follow(1);
  const niceOf = (task: string) =>
    Number(readFileSync(`/proc/self/task/${task}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[16]);
  assert.ok(readdirSync('/proc/self/task').some((task) => niceOf(task) === 19));
  assert.is(getPriority(), before);
  await pool.close();
  await writer.close();
  rmSync(dir, { recursive: true, force: true });
});

test.run();
