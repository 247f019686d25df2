/** The pools of threads: while one starts, the pieces of the log that one reads, and signatures. */
import { sign } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BatchWriter, chainStart, NONCE_BYTES } from '../../../src/core/records/batch.js';
import { batchesIn } from '../../../src/group/backup/copy-store.js';
import { PoolBusyError } from '../../../src/group/ports/pool.js';
import { limits } from '../../../src/limits.js';
import { acquireFolder, epochOf } from '../../../src/store/ownership/owner.js';
import { LmdbSnapshotStore } from '../../../src/store/snapshots/lmdb-snapshots.js';
import { PiscinaPool } from '../../../src/workers/pool/piscina-pool.js';
import { ReadQueue } from '../../../src/workers/pool/read-queue.js';
import { newSigningKey } from '../../http/signing/signer.js';
import { rejection, rejectionAs } from '../../store/log-contract.js';
import { closing } from '../../support/closing.js';
import { deferred } from '../../support/deferred.js';
import { formedRecord, salt, t0 } from '../../support/given.js';
import { temporaryFolder } from '../../support/process.js';
import { until } from '../../support/until.js';

test('a read is queued once the thread has loaded, so that the time of the load refuses none', async () => {
  const dir = temporaryFolder();
  const file = join(dir, 'slow-reader.mjs');
  const gate = join(dir, 'gate');
  writeFileSync(
    file,
    `import { existsSync } from 'node:fs';
    import { until } from '${new URL('../../support/until.js', import.meta.url)}';
    await until(() => existsSync(${JSON.stringify(gate)}));
    export const loaded = () => {};
    export const close = () => {};
    export const records = (seqs) => seqs;`,
  );
  const entry = pathToFileURL(file);
  const folder = { dir, salt: new Uint8Array(16) };
  const queue = new ReadQueue(1, 60_000);
  let queued = 0;
  const run = queue.run.bind(queue);
  queue.run = (...read) => {
    queued += 1;
    return run(...read);
  };
  await using pool = closing(new PiscinaPool(folder, { replica: entry, reader: entry }, undefined, queue));
  const reads = [1, 2, 3].map((seq) => pool.records([seq]));
  // A read that waited for no load would be queued within these turns.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  const queuedEarly = queued;
  writeFileSync(gate, '');
  assert.equal(await Promise.all(reads), [[1], [2], [3]]);
  assert.equal([queuedEarly, queued], [0, 3]);
});

test('a thread verifies a batch of signatures, each by its own key, and replies in their order', async () => {
  await using pool = closing(new PiscinaPool({ dir: 'none', salt }));
  const base = '"@method": POST, \u00ff is one byte';
  const keys = [newSigningKey(), newSigningKey()] as const;
  const signatures = keys.map(({ privateKey }) => sign(null, Buffer.from(base, 'latin1'), privateKey));
  const batch = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 0],
  ].map(([key, by]) => ({ base, publicKey: keys[key!]!.publicKey, signature: signatures[by!]! }));
  assert.equal(await pool.verifySignatures(batch), [true, false, true, true]);
  assert.equal(await pool.verifySignatures([{ ...batch[0]!, base: 'another' }]), [false]);
  await pool.close();
  assert.match(String(await rejection(pool.verifySignatures(batch))), 'the pool is closed');
});

test('a piece of the log comes in memory that the threads share, or alone if it is larger', async () => {
  const dir = temporaryFolder();
  await using writer = closing(await acquireFolder(dir));
  const batch = (firstSeq: number, length: number) => ({ firstSeq, bytes: new Uint8Array(length).fill(firstSeq) });
  const large = batch(3, limits.copyPieceBytes);
  await writer.appendAll([batch(1, 10), batch(2, 20), large]);
  await using pool = closing(new PiscinaPool({ dir, salt: new Uint8Array(16) }));
  const batchesFrom = async (firstSeq: number) => {
    const piece = await pool.logPiece({ firstSeq, limit: 10 });
    const isShared = piece.buffer instanceof SharedArrayBuffer;
    const batches = batchesIn(Buffer.from(piece)).map((one) => ({ ...one, bytes: new Uint8Array(one.bytes) }));
    return { isShared, batches };
  };
  assert.equal(await batchesFrom(1), { isShared: true, batches: [batch(1, 10), batch(2, 20)] });
  assert.equal(await batchesFrom(3), { isShared: false, batches: [large] });
  assert.equal(await batchesFrom(4), { isShared: true, batches: [] });
});

/** A folder whose log has one record, the formation of a group, with its owner. */
async function formedFolder() {
  const dir = temporaryFolder();
  const writer = await acquireFolder(dir);
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
  }
});

test('on Linux the replica runs at the lowest priority, and the main thread at its own', async () => {
  if (process.platform !== 'linux') return;
  const { writer, pool } = await formedFolder();
  const before = getPriority();
  await pool.follow(1);
  const niceOf = (task: string) =>
    Number(readFileSync(`/proc/self/task/${task}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[16]);
  assert.ok(readdirSync('/proc/self/task').some((task) => niceOf(task) === 19));
  assert.is(getPriority(), before);
  await pool.close();
  await writer.close();
});

/**
 * Runs with a pool whose workers execute `code`, and with a function that replaces the code of the next ones. A worker
 * that closes makes the file `closing` in the folder, waits for `gate`, and makes `closed`.
 */
async function withWorkers(
  code: string,
  run: (pool: PiscinaPool, replace: (code: string) => void, dir: string) => Promise<void>,
  timeoutMs?: number,
): Promise<void> {
  const dir = temporaryFolder();
  const file = join(dir, 'workers.mjs');
  const ends = `import { existsSync, writeFileSync } from 'node:fs'; import { workerData } from 'node:worker_threads';
    import { until } from '${new URL('../../support/until.js', import.meta.url)}';
    export const loaded = () => {};
    export const close = async () => {
      writeFileSync(workerData.dir + '/closing', '');
      await until(() => existsSync(workerData.dir + '/gate'));
      writeFileSync(workerData.dir + '/closed', '');
    };`;
  const replace = (next: string) => writeFileSync(file, `${ends} ${next}`);
  replace(code);
  const entry = pathToFileURL(file);
  const pool = new PiscinaPool({ dir, salt }, { replica: entry, reader: entry }, timeoutMs);
  try {
    await run(pool, replace, dir);
  } finally {
    await pool.close(1, 1);
  }
}

const retention = { type: 'retention', after: 0, upTo: 1, durable: 1 } as const;
const removal = { type: 'removal', events: [], chains: [], erasures: [], tagKey: '' } as const;

const messageOf = (task: Promise<unknown>) =>
  task.then(
    () => 'done',
    ({ message }: Error) => message,
  );

test('a task starts once the files hold every acknowledged batch, unless an erasure waits for it', () => {
  const tasks = ['follow', 'snapshot', 'publishChanges', 'verdicts', 'records', 'redact', 'retire'];
  return withWorkers(tasks.map((name) => `export const ${name} = () => 1;`).join(''), async (pool) => {
    const { promise: stored, resolve: store } = deferred();
    const done: string[] = [];
    pool.filesStored = () => stored.then(() => void done.push('stored'));
    await rejection(pool.check(() => undefined, new AbortController().signal));
    assert.equal(done, [], 'a check of the files starts at once');
    const feed = { generation: 'g', upTo: 7, at: 1, asOf: 1, erasedOnly: true };
    await Promise.all([pool.follow(7), pool.snapshot(7, 1), pool.publishChanges(feed)]);
    const waiting = () => [pool.verdicts(7, 1), pool.records([7]), pool.redact(removal), pool.retire(retention)];
    const begun = waiting().map((task) => task.then(() => done.push('task')));
    store();
    await Promise.all(begun);
    assert.equal(done, [...Array(4).fill('stored'), ...Array(4).fill('task')]);
    pool.filesStored = () => Promise.reject(new Error('no space left'));
    assert.equal(await Promise.all(waiting().map(messageOf)), Array(4).fill('no space left'));
  });
});

test('the removal of an event waits for the read in progress alone, not for others, nor for the replica', () => {
  const code = `export const weights = () => new Promise(() => {});
    export const redact = ({ events }) => events;
    export const records = async ([seq]) => {
      await until(() => existsSync(workerData.dir + '/gate'));
      return [seq];
    };`;
  return withWorkers(code, async (pool, _replace, dir) => {
    const done: unknown[] = [];
    const note = (task: Promise<unknown>) => task.then((answer) => done.push(answer));
    void pool.weights(1, 1).catch(() => undefined);
    await pool.redact(removal);
    const reads = [1, 2, 3].map((seq) => note(pool.records([seq])));
    await new Promise((resolve) => setImmediate(resolve));
    const removed = note(pool.redact({ ...removal, events: [9] }));
    writeFileSync(join(dir, 'gate'), '');
    await Promise.all([...reads, removed]);
    assert.equal(done, [[1], [9], [2], [3]]);
  });
});

test('a worker that cannot load fails its tasks, and the next task starts another one', () =>
  withWorkers('throw new Error("no memory")', async (pool, replace) => {
    const failures = (await Promise.all([pool.follow(1), pool.verdicts(1, 1)].map(rejection))) as Error[];
    assert.equal(
      failures.map(({ message, cause }) => `${message}: ${cause}`),
      ['follow', 'verdicts'].map((task) => `no worker is left for ${task}: Error: no memory`),
    );
    replace('export const follow = () => 7;');
    assert.is(await pool.follow(3), 7);
  }));

test('a full queue refuses a task, which is no failure of its worker, and a closed pool fails it', () =>
  withWorkers('export const follow = (upTo) => upTo === 0 ? 1 : new Promise(() => {});', async (pool) => {
    await pool.follow(0);
    const tasks = Array.from({ length: 1 + limits.replicaQueueMax }, () => messageOf(pool.follow(1)));
    assert.is((await rejectionAs(PoolBusyError, pool.follow(0))).message, 'the follow queue is full');
    const closed = pool.close(1, 1);
    assert.is(pool.close(), closed);
    await closed;
    assert.not((await Promise.all(tasks)).includes('done'));
    assert.is(await messageOf(pool.records([1])), 'the pool is closed');
  }));

test('a pool that is closed refuses the reads that wait for a thread, as too many', () =>
  withWorkers('export const records = ([seq]) => seq === 0 ? [] : new Promise(() => {});', async (pool) => {
    await pool.records([0]);
    const reads = Array.from({ length: limits.readerThreads + 1 }, () => pool.records([1]));
    const ended = reads.map((read) => read.catch((error: unknown) => error instanceof PoolBusyError));
    await new Promise((resolve) => setImmediate(resolve));
    await pool.close(1, 1);
    assert.equal(await Promise.all(ended), [...Array(limits.readerThreads).fill(false), true]);
  }));

test('a computation of weights that takes too long is given up, and its worker is replaced', () =>
  withWorkers(
    'export function weights() { for (;;); } export const follow = () => 7; export const verdicts = follow;',
    async (pool) => {
      await pool.follow(1);
      assert.match(await messageOf(pool.weights(1, 1)), /aborted/);
      assert.is(await pool.verdicts(1, 1), 7);
    },
    20,
  ));

test('a simulation ends after its progress, its error ends no worker, and a worker closes its files', () => {
  const code = `let calls = 0; export function simulate({ work, progress }) {
    calls += 1;
    if (work === null) throw new Error('no scenario');
    for (let done = 1; done <= 3; done++) progress.postMessage([done, 3]);
    return calls;
  }`;
  return withWorkers(code, async (pool, _replace, dir) => {
    const seen: unknown[] = [];
    const simulate = (work: unknown) => pool.simulate(work as never, (...progress) => seen.push(progress));
    assert.is(await simulate(7), 1);
    assert.equal(seen, [
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
    assert.is(await messageOf(simulate(null)), 'no scenario');
    assert.is(await simulate(7), 3, 'the worker lives on');
    const closed = pool.close(60_000, 60_000);
    await until(() => existsSync(join(dir, 'closing')));
    writeFileSync(join(dir, 'gate'), '');
    await closed;
    assert.ok(existsSync(join(dir, 'closed')));
  });
});

test.run();
