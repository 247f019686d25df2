/** The in-memory snapshots keep the port's contract, and damage is found at the blocks. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DamagedError } from '../../src/group/ports/storage.js';
import { blocksIn } from '../support/blocks-in.js';
import { MemorySnapshotStore } from '../support/memory-snapshots.js';
import { blocksOf, headerOf, testSnapshots } from './snapshots-contract.js';

testSnapshots('memory snapshots', () => new MemorySnapshotStore());

test('a damaged snapshot fails at its blocks until it is written again', async () => {
  const store = new MemorySnapshotStore();
  await store.write(headerOf(1), blocksOf(1, [10]));
  store.damage(1);
  assert.equal(store.readHeader(1), headerOf(1));
  assert.throws(
    () => blocksIn(store, 1),
    (error: unknown) => error instanceof DamagedError,
  );
  await store.write(headerOf(1), blocksOf(1, [10]));
  assert.equal(blocksIn(store, 1), blocksOf(1, [10]));
});

test.run();
