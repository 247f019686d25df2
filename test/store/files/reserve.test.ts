/** The space that is kept for commits on a full disk. `test/faults/disk.ts` has a node use it. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DiskFullError } from '../../../src/group/ports/storage.js';
import { limits } from '../../../src/limits.js';
import { Reserve, refuseIfFull, refuseWithoutCommitSpace } from '../../../src/store/files/full-disk.js';
import { SmallDisk } from '../../faults/small-disk.js';
import { temporaryFolder } from '../../support/process.js';
import { rejection } from '../log-contract.js';

const sizeIn = (dir: string) => statSync(join(dir, 'reserve'), { throwIfNoEntry: false })?.size;

test('a reserve is filled once, and commits on a disk with room leave it unchanged', async () => {
  const dir = temporaryFolder();
  const reserve = new Reserve(dir);
  reserve.fill();
  assert.is(sizeIn(dir), limits.reserveBytes);
  const written = readFileSync(join(dir, 'reserve'));
  reserve.fill();
  assert.is(await reserve.during(async () => sizeIn(dir)), limits.reserveBytes);
  assert.ok(readFileSync(join(dir, 'reserve')).equals(written), 'its content is random');
});

/** Runs with a disk of 8 MB; a system on which none can be mounted skips the test. */
async function onSmallDisk(what: string, run: (small: SmallDisk) => unknown): Promise<void> {
  const small = SmallDisk.mount(8);
  if (small === null) {
    process.stdout.write(`SKIPPED: a small file system cannot be mounted here, so ${what}\n`);
    return;
  }
  try {
    await run(small);
  } finally {
    small.unmount();
  }
}

test('work on a full disk finds the space of the reserve, which is filled again even after a failure', () =>
  onSmallDisk('no reserve is used', async (small) => {
    const reserve = new Reserve(small.path);
    reserve.fill();
    small.fill(0);
    assert.is(await reserve.during(async () => small.freeBytes), limits.reserveBytes);
    assert.is(sizeIn(small.path), limits.reserveBytes);
    const failed = String(await rejection(reserve.during(() => Promise.reject(new Error('no')))));
    assert.equal([failed, sizeIn(small.path), small.freeBytes], ['Error: no', limits.reserveBytes, 0]);
    // A second process on the folder learns that it is not its own before it would touch the reserve.
    const taken = () => Promise.reject(new Error(`the reserve holds ${sizeIn(small.path)}`));
    assert.match(String(await rejection(reserve.ifFull(taken))), `the reserve holds ${limits.reserveBytes}`);
    const write = async () => writeFileSync(join(small.path, 'acquired'), Buffer.alloc(65_536, 1));
    await reserve.ifFull(write);
    assert.is(statSync(join(small.path, 'acquired')).size, 65_536);
  }));

test('a reserve on a nearly full disk leaves half of the free space', () =>
  onSmallDisk('no nearly full disk is tried', (small) => {
    small.fill(limits.reserveBytes);
    const before = small.freeBytes;
    new Reserve(small.path).fill();
    const size = sizeIn(small.path) ?? 0;
    assert.ok(size > 0 && size <= before / 2, `${size} of ${before}`);
    rmSync(join(small.path, 'reserve'));
  }));

test('a full disk is named where it would look like damage, and one with room is not', () =>
  onSmallDisk('no full disk is named', async (small) => {
    const reserve = new Reserve(small.path);
    const finds = () => reserve.during(async (isFull) => isFull);
    const isFullDisk = (text: string) => (error: Error) =>
      error instanceof DiskFullError && error.message.includes(text);
    const { path } = small;
    small.fill(limits.commitFreeBytes);
    refuseWithoutCommitSpace(path);
    refuseIfFull(path);
    assert.is(await finds(), false);
    small.fill(limits.commitFreeBytes - 4_096);
    assert.throws(() => refuseWithoutCommitSpace(path), isFullDisk(`a write needs ${limits.commitFreeBytes}`));
    small.fill(0);
    assert.throws(() => refuseIfFull(path), isFullDisk(`the disk under ${path} is full`));
    assert.is(await finds(), true);
  }));

test.run();
