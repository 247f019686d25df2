/**
 * The contract of the snapshots' port that every adapter must fulfil. Registers its tests with uvu; the caller runs
 * them.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { SnapshotBlock } from '../../src/core/snapshot/snapshot.js';
import type { SnapshotHeader, SnapshotStore } from '../../src/group/ports/storage.js';
import { blocksIn } from '../support/blocks-in.js';
import { isDamageOf, rejection } from './log-contract.js';

export function headerOf(seq: number): SnapshotHeader {
  return { version: 1, seq, chain: 'c'.repeat(64), digest: 'd'.repeat(64), epoch: 3 };
}

export function blocksOf(seed: number, sizes: readonly number[]): SnapshotBlock[] {
  return sizes.map((size, i) => ({
    key: `part-${(i * 7919 + seed) % 100}-é`,
    bytes: Uint8Array.from({ length: size }, (_, at) => (seed + i * 13 + at * 5) & 0xff),
  }));
}

export function testSnapshots(name: string, makeStore: () => SnapshotStore): void {
  const rule = (text: string, body: (store: SnapshotStore) => Promise<void>) =>
    test(`${name}: ${text}`, () => body(makeStore()));

  rule('a snapshot comes back as written, many blocks in their order, or none', async (store) => {
    for (const sizes of [[0, 1, 100, 4_000, 5_000, 300_000, 3, 1_048_576], Array<number>(3_000).fill(20), []]) {
      const blocks = blocksOf(1, sizes);
      await store.write(headerOf(42), blocks);
      assert.equal([store.list(), store.readHeader(42)], [[42], headerOf(42)]);
      assert.equal(blocksIn(store, 42), blocks);
    }
  });

  rule('blocks may all lie in the same memory, each until the next is asked for', async (store) => {
    const blocks = blocksOf(2, [300_000, 10, 5_000, 300_000]);
    const memory = new Uint8Array(300_000);
    function* oneAfterTheOther(): Generator<SnapshotBlock> {
      for (const { key, bytes } of blocks) {
        memory.set(bytes);
        yield { key, bytes: memory.subarray(0, bytes.length) };
        memory.fill(0xff);
      }
    }
    await store.write(headerOf(3), oneAfterTheOther());
    assert.equal(blocksIn(store, 3), blocks);
  });

  rule('the list names the newest first', async (store) => {
    for (const seq of [7, 100_000, 20]) await store.write(headerOf(seq), blocksOf(seq, [10]));
    assert.equal(store.list(), [100_000, 20, 7]);
  });

  rule('writing a sequence number again replaces its snapshot', async (store) => {
    await store.write(headerOf(7), blocksOf(1, [10, 20, 30]));
    await store.write({ ...headerOf(7), epoch: 9 }, blocksOf(2, [5]));
    assert.is(store.readHeader(7).epoch, 9);
    assert.equal(blocksIn(store, 7), blocksOf(2, [5]));
    assert.equal(store.list(), [7]);
  });

  rule('what is done to a lent block changes nothing that is stored', async (store) => {
    await store.write(headerOf(1), blocksOf(3, [50, 60]));
    for (const { bytes } of store.borrowBlocks(1)) bytes.fill(0);
    assert.equal(blocksIn(store, 1), blocksOf(3, [50, 60]));
  });

  rule('a snapshot can be written from blocks of another as they are lent', async (store) => {
    await store.write(headerOf(1), blocksOf(3, [50, 300_000, 0, 60]));
    await store.write(headerOf(2), store.borrowBlocks(1));
    assert.equal(blocksIn(store, 2), blocksOf(3, [50, 300_000, 0, 60]));
  });

  rule('reading may stop early, and two readings may overlap', async (store) => {
    await store.write(headerOf(1), blocksOf(3, [50, 60, 70]));
    for (const block of store.borrowBlocks(1)) {
      assert.equal(block, blocksOf(3, [50])[0]);
      assert.equal(blocksIn(store, 1).length, 3);
      break;
    }
    await store.remove(1);
    assert.equal(store.list(), []);
  });

  rule('removing one leaves the others, and one that is not there is no fault', async (store) => {
    for (const seq of [1, 2]) await store.write(headerOf(seq), blocksOf(seq, [10]));
    await store.remove(1);
    await store.remove(1);
    assert.equal(store.list(), [2]);
    assert.equal(blocksIn(store, 2), blocksOf(2, [10]));
  });

  rule('a snapshot that is not there is damage when read', async (store) => {
    assert.throws(() => store.readHeader(5), isDamageOf());
    assert.throws(() => blocksIn(store, 5), isDamageOf());
  });

  rule('a write that fails in the middle leaves nothing in the list', async (store) => {
    await store.write(headerOf(1), blocksOf(1, [10]));
    const failing = function* (): Iterable<SnapshotBlock> {
      yield* blocksOf(1, [10, 2_000_000]);
      throw new Error('the source failed');
    };
    for (const seq of [1, 2]) assert.instance(await rejection(store.write(headerOf(seq), failing())), Error);
    await store.sweep();
    assert.equal(store.list(), [1]);
    assert.equal(blocksIn(store, 1), blocksOf(1, [10]));
  });
}
