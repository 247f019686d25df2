/**
 * Reads snapshot 9 of each named copy and prints one line for each: same, damaged, failed or silent. Run as a process
 * of its own, since a damaged page can end the process that reads it.
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { DamagedError } from '../../src/group/ports/storage.js';
import { LmdbSnapshotStore } from '../../src/store/snapshots/lmdb-snapshots.js';
import { blocksIn } from '../support/blocks-in.js';
import { blocksOf, headerOf } from './snapshots-contract.js';

const [copies = '', ...names] = process.argv.slice(2);
const expected = JSON.stringify([headerOf(9), blocksOf(4, [10, 5_000, 40, 1_500, 70_000, 3])]);

function verdictOn(dir: string): string {
  const store = new LmdbSnapshotStore(dir);
  try {
    const read = JSON.stringify([store.readHeader(9), blocksIn(store, 9)]);
    return read === expected ? 'same' : 'silent';
  } catch (error) {
    return error instanceof DamagedError ? 'damaged' : 'failed';
  }
}

for (const name of names) writeSync(1, `${name} ${verdictOn(join(copies, name))}\n`);
