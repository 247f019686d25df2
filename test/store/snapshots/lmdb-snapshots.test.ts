/** Snapshots in LMDB keep the port's contract; interrupted writes, cut files and flipped bits are found. */
import { execFileSync, spawnSync } from 'node:child_process';
import fs, { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { open } from 'lmdb';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LmdbSnapshotStore } from '../../../src/store/snapshots/lmdb-snapshots.js';
import { blocksIn } from '../../support/blocks-in.js';
import { temporaryFolder } from '../../support/process.js';
import { isDamageOf, rejection } from '../log-contract.js';
import { blocksOf, headerOf, testSnapshots } from '../snapshots-contract.js';

const readerEntry = fileURLToPath(new URL('../read-snapshots.js', import.meta.url));
const SIZES = [10, 5_000, 40, 1_500, 70_000, 3];

testSnapshots('lmdb snapshots', () => new LmdbSnapshotStore(temporaryFolder()));

async function withSnapshot(body: (dir: string, store: LmdbSnapshotStore, file: string) => unknown): Promise<void> {
  const dir = temporaryFolder();
  const store = new LmdbSnapshotStore(dir);
  await store.write(headerOf(9), blocksOf(4, SIZES));
  await body(dir, store, join(dir, 'snapshot-0000000000000009', 'data.mdb'));
}

const THREE = 'snapshot-0000000000000003';
/** The name to which a replacement moves the snapshot that it replaces. */
const PUSHED_ASIDE = `.old-${THREE}`;

/** A folder with snapshot 3, of one small block. */
async function withThree() {
  const dir = temporaryFolder();
  const store = new LmdbSnapshotStore(dir);
  await store.write(headerOf(3), blocksOf(1, [10]));
  return { dir, store };
}

test('a snapshot whose writing was interrupted is written anew', async () => {
  const { dir, store } = await withThree();
  mkdirSync(join(dir, '.tmp-snapshot-0000000000000011'));
  await store.write(headerOf(11), blocksOf(1, [10]));
  assert.equal(store.list(), [11, 3]);
});

test('each block is written by itself, so that no call writes more than one', () =>
  withSnapshot(async (_dir, _store, file) => {
    const environment = open(file, { readOnly: true, noSubdir: true });
    const { lastTxnId } = environment.getStats() as { lastTxnId: number };
    await environment.close();
    assert.is(lastTxnId, SIZES.length + 1, 'the blocks, and the header');
  }));

test('a block has its checksum, the length of its name in 16 bits, its name and its bytes', async () => {
  const dir = temporaryFolder();
  await new LmdbSnapshotStore(dir).write(headerOf(9), [{ key: 'ab', bytes: Buffer.of(7) }]);
  const environment = open(join(dir, 'snapshot-0000000000000009'), { noSubdir: false, keyEncoding: 'binary' });
  const value = environment.getBinary(Buffer.of(0, 0, 0, 1))!;
  await environment.close();
  const body = Buffer.from('\0\x02ab\x07', 'latin1');
  assert.is(value.toString('hex'), `${crc32(body, 1).toString(16).padStart(8, '0')}${body.toString('hex')}`);
});

test('little of a snapshot waits for the disk while it is written, so that commits do not wait', async () => {
  const dir = temporaryFolder();
  const whole = fs.fdatasyncSync;
  const grownTo: number[] = [];
  fs.fdatasyncSync = (descriptor) => {
    grownTo.push(fs.fstatSync(descriptor).size);
    whole(descriptor);
  };
  syncBuiltinESMExports();
  try {
    await new LmdbSnapshotStore(dir).write(headerOf(9), blocksOf(4, Array<number>(30).fill(200_000)));
  } finally {
    fs.fdatasyncSync = whole;
    syncBuiltinESMExports();
  }
  const file = join(dir, 'snapshot-0000000000000009', 'data.mdb');
  const steps = [...grownTo, fs.statSync(file).size].map((size, i) => size - (grownTo[i - 1] ?? 0));
  assert.ok(Math.max(...steps) < 1_400_000, `bytes written from one sync to the next: ${steps}`);
});

const isDamage = isDamageOf('snapshot-0000000000000009');
const ELEVEN = 'snapshot-0000000000000011';

test('a file cut at any length is damage before a page of it is read', () =>
  withSnapshot((_dir, store, file) => {
    const whole = readFileSync(file);
    const lengths = [0, 1, 100, 4_095, 4_096, 4_200, 8_192, 20_000, whole.length - 4_096, whole.length - 1];
    for (const length of lengths) {
      // A new file each time, as LMDB knows open ones by their inode.
      writeFileSync(`${file}.cut`, whole.subarray(0, length));
      renameSync(`${file}.cut`, file);
      assert.throws(() => store.readHeader(9), isDamage, `cut at ${length}`);
      assert.throws(() => blocksIn(store, 9), isDamage, `cut at ${length}`);
    }
  }));

test('a folder without a data file, or with another snapshot than its name says, is damage', () =>
  withSnapshot((dir, store, file) => {
    mkdirSync(join(dir, ELEVEN));
    assert.equal(store.list(), [11, 9]);
    assert.throws(() => store.readHeader(11), isDamageOf(ELEVEN));
    rmSync(join(dir, ELEVEN), { recursive: true });
    renameSync(dirname(file), join(dir, ELEVEN));
    assert.equal(store.list(), [11]);
    assert.throws(() => store.readHeader(11), isDamageOf('belongs to snapshot 9'));
  }));

/** Opens snapshot 9, and lets `change` happen once its file has been checked, before LMDB opens it. */
function openedAmid(store: LmdbSnapshotStore, change: () => void): unknown {
  const close = fs.closeSync;
  const restore = () => {
    fs.closeSync = close;
    syncBuiltinESMExports();
  };
  fs.closeSync = (descriptor) => {
    restore();
    close(descriptor);
    change();
  };
  syncBuiltinESMExports();
  try {
    return store.readHeader(9);
  } catch (error) {
    return error;
  } finally {
    restore();
  }
}

test('a snapshot that its owner removes while it is opened is missing, and no folder takes its place', () =>
  withSnapshot((dir, store, file) => {
    const error = openedAmid(store, () => rmSync(dirname(file), { recursive: true }));
    assert.ok(isDamageOf('the file is missing')(error));
    assert.equal(readdirSync(dir), []);
  }));

test('a snapshot that lacks its header or a block is damage', async () => {
  for (const [index, text] of [
    [0, 'the header is missing'],
    [2, 'block 2 is missing'],
  ] as const) {
    await withSnapshot(async (_dir, store, file) => {
      const environment = open(dirname(file), { noSubdir: false, keyEncoding: 'binary' });
      const key = Buffer.of(0, 0, 0, index);
      assert.ok(environment.getBinary(key));
      await environment.remove(key);
      await environment.close();
      assert.throws(() => blocksIn(store, 9), isDamageOf('snapshot-0000000000000009', text));
    });
  }
});

test('one flipped bit anywhere is found or changes nothing, and never ends the process that serves', () =>
  withSnapshot((dir, _store, file) => {
    const whole = readFileSync(file);
    const stride = 1_013;
    const copies = join(dir, 'copies');
    for (let at = 0, n = 0; at < whole.length; at += stride, n += 1) {
      const folder = join(copies, String(n).padStart(5, '0'), 'snapshot-0000000000000009');
      mkdirSync(folder, { recursive: true });
      const flipped = Buffer.from(whole);
      flipped[at]! ^= 1 << (n % 8);
      writeFileSync(join(folder, 'data.mdb'), flipped);
    }
    const names = readdirSync(copies).sort();
    const verdicts = new Map<string, string>();
    // A crash ends the child; the next one goes on behind the copy that did it.
    for (let next = 0; next < names.length; ) {
      const { stdout } = spawnSync(process.execPath, [readerEntry, copies, ...names.slice(next)], { encoding: 'utf8' });
      const lines = stdout.split('\n').filter((line) => line !== '');
      for (const line of lines) verdicts.set(line.split(' ')[0]!, line.split(' ')[1]!);
      next += lines.length;
      if (next < names.length) verdicts.set(names[next++]!, 'crash');
    }
    assert.is(verdicts.size, names.length);
    const counts = { same: 0, damaged: 0, failed: 0, crash: 0, silent: 0 };
    for (const verdict of verdicts.values()) counts[verdict as keyof typeof counts] += 1;
    assert.is(counts.silent, 0, JSON.stringify(counts));
    assert.ok(counts.damaged > names.length / 2, JSON.stringify(counts));
  }));

test('blocks that changed places are damage', async () => {
  await withSnapshot(async (_dir, store, file) => {
    // Two blocks of one size, each on overflow pages of its own: their pages change places.
    await store.write(headerOf(9), blocksOf(4, [6_000, 6_000]));
    const [first, second] = blocksIn(store, 9);
    const bytes = readFileSync(file);
    const [one, two] = [bytes.indexOf(first!.bytes), bytes.indexOf(second!.bytes)];
    assert.ok(one > 0 && two > 0);
    const start = (at: number) => at - (at % 4_096) + 24;
    const page = Buffer.from(bytes.subarray(start(one), start(one) + 6_100));
    bytes.copy(bytes, start(one), start(two), start(two) + 6_100);
    page.copy(bytes, start(two));
    writeFileSync(`${file}.new`, bytes);
    renameSync(`${file}.new`, file);
    assert.throws(() => blocksIn(store, 9), isDamage);
  });
});

test('a snapshot that was killed while being written is not listed and is swept', async () => {
  const { dir, store } = await withThree();
  mkdirSync(join(dir, '.tmp-snapshot-0000000000000004'));
  writeFileSync(join(dir, '.tmp-snapshot-0000000000000004', 'data.mdb'), 'half');
  writeFileSync(join(dir, 'head.json'), '{}');
  assert.equal(store.list(), [3]);
  await store.sweep();
  assert.equal(readdirSync(dir).sort(), ['head.json', 'snapshot-0000000000000003']);
});

test('a failed write leaves the earlier content and no other file', async () => {
  const { dir, store } = await withThree();
  function* failing() {
    yield* blocksOf(4, SIZES);
    throw new Error('the disk is full');
  }
  for (const seq of [3, 4])
    assert.match(String(await rejection(store.write(headerOf(seq), failing()))), 'the disk is full');
  assert.equal(readdirSync(dir), [THREE]);
  assert.equal(blocksIn(store, 3), blocksOf(1, [10]));
});

// A thread that is ended amid one of these transactions never ends, and neither does its process.
test('an aborted write gives up between two blocks, begins no further transaction, and leaves nothing', async () => {
  const dir = temporaryFolder();
  let left = 2;
  const store = new LmdbSnapshotStore(dir, () => left < 0);
  let taken = 0;
  function* blocks() {
    for (const block of blocksOf(4, SIZES)) {
      left -= 1;
      taken += 1;
      yield block;
    }
  }
  assert.match(String(await rejection(store.write(headerOf(3), blocks()))), 'aborted');
  assert.is(taken, 3, 'two blocks were written, and the third was not');
  assert.match(String(await rejection(store.write(headerOf(4), blocks()))), 'aborted');
  assert.is(taken, 3, 'none is begun');
  assert.equal(readdirSync(dir), []);
});

test('a write gives up at whichever of its steps its writer must end, and leaves nothing', async () => {
  const dir = temporaryFolder();
  let asked = 0;
  for (let granted = 0; granted < SIZES.length + 3; granted++) {
    asked = 0;
    const store = new LmdbSnapshotStore(dir, () => ++asked > granted);
    assert.match(String(await rejection(store.write(headerOf(3), blocksOf(4, SIZES)))), 'aborted');
    assert.equal(readdirSync(dir), []);
  }
  // Before the first block, before each, before the header and before the name.
  asked = 0;
  await new LmdbSnapshotStore(dir, () => ++asked > SIZES.length + 3).write(headerOf(3), blocksOf(4, SIZES));
  assert.is(asked, SIZES.length + 3);
});

test('a borrowed block is used before any writer is asked again, since writers read from LMDB', async () => {
  const { dir, store: source } = await withThree();
  await source.write(headerOf(9), blocksOf(4, SIZES));
  const store = new LmdbSnapshotStore(dir, () => source.readHeader(3).seq !== 3);
  await store.write(headerOf(12), source.borrowBlocks(9));
  assert.equal(blocksIn(store, 12), blocksOf(4, SIZES));
});

test('a removed snapshot does not come back from leftovers of its replacement', async () => {
  const { dir, store } = await withThree();
  for (const name of [PUSHED_ASIDE, '.tmp-snapshot-0000000000000003'])
    cpSync(join(dir, THREE), join(dir, name), { recursive: true });
  await store.remove(3);
  assert.equal(readdirSync(dir), []);
  await store.sweep();
  assert.equal(store.list(), []);
});

test('a snapshot whose replacement never came is listed, read and removed where it was pushed to', async () => {
  for (const isSwept of [false, true]) {
    const { dir, store } = await withThree();
    renameSync(join(dir, THREE), join(dir, PUSHED_ASIDE));
    if (isSwept) await store.sweep();
    assert.equal([store.list(), blocksIn(store, 3)], [[3], blocksOf(1, [10])]);
    await store.remove(3);
    await store.sweep();
    assert.equal(readdirSync(dir), []);
  }
});

test('a snapshot on a file system that cannot be written is read all the same', async () => {
  await withSnapshot((dir, store) => {
    execFileSync('chmod', ['-R', 'a-w', dir]);
    assert.equal(blocksIn(store, 9), blocksOf(4, SIZES));
    execFileSync('chmod', ['-R', 'u+w', dir]);
  });
});

test.run();
