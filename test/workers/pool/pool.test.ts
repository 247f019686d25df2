/** The pool of reads while its thread starts. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PiscinaPool } from '../../../src/workers/pool/pool.js';
import { ReadQueue } from '../../../src/workers/pool/read-queue.js';
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

test.run();
