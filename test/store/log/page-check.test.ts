/** The pages that a commit starts from are looked at before one is made, and damage of them has a name. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DamagedError, type StoredBatch } from '../../../src/group/ports/storage.js';
import type { LmdbLogWriter } from '../../../src/store/log/lmdb-log.js';
import { checkPages } from '../../../src/store/log/page-check.js';
import { acquireFolder } from '../../../src/store/ownership/owner.js';
import { verifyFolder } from '../../../src/workers/verify/verify-folder.js';
import { inFastFolder } from '../../faults/fault.js';
import { Random } from '../../support/random.js';
import { batchOf } from '../log-contract.js';

/** Bytes of values that stand in a leaf, in one page and in many of their own. */
const sizes = [40, 300, 1_500, 2_030, 2_040, 4_068, 9_000, 70_000];

interface GivenLog {
  readonly dir: string;
  readonly file: string;
  readonly writer: LmdbLogWriter;
}

function inLog(work: (log: GivenLog) => Promise<void>): Promise<void> {
  return inFastFolder(async (dir) =>
    work({ dir, file: join(dir, 'log', 'data.mdb'), writer: await acquireFolder(dir) }),
  );
}

test('a log is intact after every commit of a long life with rewrites, scrubs and restarts', () =>
  inLog(async ({ dir, file, writer: first }) => {
    const random = new Random(20261120);
    let writer = first;
    const seqs: number[] = [];
    let next = 1;
    for (let step = 0; step < 400; step += 1) {
      const rewrites: StoredBatch[] = [];
      for (let i = random.below(4); i > 0 && seqs.length > 0; i -= 1) {
        const seq = random.pick(seqs);
        if (!rewrites.some(({ firstSeq }) => firstSeq === seq)) rewrites.push(batchOf(seq, random.pick(sizes)));
      }
      const batch = random.below(5) === 0 && rewrites.length > 0 ? null : batchOf(next, random.pick(sizes));
      await writer.append(batch, rewrites);
      if (batch !== null) seqs.push(next++);
      if (step % 100 === 50) await writer.scrub();
      if (step % 100 === 75) {
        await writer.close();
        writer = await acquireFolder(dir);
      }
      checkPages(file);
    }
    await writer.close();
    checkPages(file);
  }));

/** Numbers in the machine's byte order, as LMDB writes them: see `page-check.ts`. */
const META_MAIN_TREE = 24 + 24 + 48;
const META_LAST_PAGE = 24 + 120;
const META_TXN = 24 + 128;

/** The layout of a closed log: byte offsets into its file. */
interface Layout {
  readonly bytes: Buffer;
  /** The list of free pages, and the rightmost leaf of the batches. */
  readonly list: number;
  readonly leaf: number;
  /** The newer meta page. */
  readonly meta: number;
  readonly pageBytes: number;
}

function layoutOf(file: string): Layout {
  const bytes = readFileSync(file);
  const pageBytes = bytes.readUInt32LE(24 + 24);
  const meta = bytes.readBigUInt64LE(META_TXN) > bytes.readBigUInt64LE(pageBytes + META_TXN) ? 0 : pageBytes;
  const rootAt = (at: number) => Number(bytes.readBigUInt64LE(at + 40)) * pageBytes;
  const main = rootAt(meta + META_MAIN_TREE);
  const name = bytes.indexOf('log', main);
  return { bytes, list: rootAt(meta + 48), leaf: rootAt(name + bytes.readUInt16LE(name - 2)), meta, pageBytes };
}

/**
 * A closed log of twenty batches in one leaf, a byte of its file changed by `damage`; what the check says of it.
 * `size`: the bytes of each value.
 */
async function saysOf(damage: (layout: Layout) => void, size?: number): Promise<string> {
  let said = '';
  await inLog(async ({ dir, file, writer }) => {
    for (let seq = 1; seq <= 20; seq += 1) await writer.append(batchOf(seq, size), []);
    await writer.close();
    const layout = layoutOf(file);
    damage(layout);
    writeFileSync(file, layout.bytes);
    try {
      checkPages(file);
    } catch (error) {
      assert.instance(error, DamagedError);
      assert.ok((error as Error).message.startsWith(`${file}: page `));
      said = (error as Error).message;
      assert.equal((await verifyFolder(dir, 'start')).faults, [said]);
    }
  });
  return said;
}

/** Where the value of an entry of a leaf page starts, behind the head of the entry and its key; -1 is the newest. */
function valueIn(bytes: Buffer, page: number, index = -1): number {
  const entries = bytes.readUInt16LE(page + 20) / 2;
  const start = page + 24 + bytes.readUInt16LE(page + 24 + 2 * (entries + index));
  return start + 8 + bytes.readUInt16LE(start + 6);
}

/** The list of a page that holds lists: where its newest one starts. */
const newestList = ({ bytes, list }: Layout): number => valueIn(bytes, list);

test('a log that nothing damaged passes', async () => assert.is(await saysOf(() => undefined), ''));

test('a leaf that lost its newest batch is named', async () => {
  const said = await saysOf(({ bytes, leaf }) => bytes.writeUInt16LE(bytes.readUInt16LE(leaf + 20) - 2, leaf + 20));
  assert.match(said, /has entries that do not fill it/);
});

test('a page that is in use and listed as free is named: the next commit would overwrite it', async () => {
  const said = await saysOf((layout) => {
    layout.bytes.writeBigUInt64LE(BigInt(layout.leaf / layout.pageBytes), newestList(layout) + 8);
  });
  assert.match(said, /is in use and listed as free/);
});

test('a list of free pages that counts more than it holds is named: a commit on it would end the process', async () => {
  const said = await saysOf((layout) => layout.bytes.writeBigUInt64LE(1n << 40n, newestList(layout)));
  assert.match(said, /lists more pages than it contains/);
});

test('a free page that the file does not have is named', async () => {
  const said = await saysOf((layout) => layout.bytes.writeBigUInt64LE(1n << 40n, newestList(layout) + 8));
  assert.match(said, /lists pages that the file does not have/);
});

test('a list that names a meta page, the page behind the last, or a run beyond it, is named', async () => {
  const lastPage = ({ bytes, meta }: Layout) => bytes.readBigInt64LE(meta + META_LAST_PAGE);
  const items: ((layout: Layout) => bigint[])[] = [
    () => [1n],
    (layout) => [lastPage(layout) + 1n],
    (layout) => [-2n, lastPage(layout)],
  ];
  for (const itemsOf of items) {
    const said = await saysOf((layout) => {
      for (const [i, item] of itemsOf(layout).entries())
        layout.bytes.writeBigInt64LE(item, newestList(layout) + 8 + 8 * i);
    });
    assert.match(said, /lists pages that the file does not have/);
  }
});

test('a list of a commit that is not newer than that of the list before, or never was, is named', async () => {
  const commits: ((layout: Layout) => bigint)[] = [
    ({ bytes, list }) => bytes.readBigUInt64LE(valueIn(bytes, list, -2) - 8),
    ({ bytes, meta }) => bytes.readBigUInt64LE(meta + META_TXN) + 1n,
  ];
  for (const commitOf of commits) {
    const said = await saysOf((layout) => layout.bytes.writeBigUInt64LE(commitOf(layout), newestList(layout) - 8));
    assert.match(said, /lists pages of no commit/);
  }
});

test('a page of the list itself, and any page of the newest value, is named if it is listed as free', async () => {
  const used: ((layout: Layout) => number)[] = [
    ({ list, pageBytes }) => list / pageBytes,
    // The value of 9,000 bytes has three pages.
    ({ bytes, leaf }) => Number(bytes.readBigUInt64LE(valueIn(bytes, leaf))) + 2,
  ];
  for (const pageOf of used) {
    let page = 0;
    const said = await saysOf((layout) => {
      page = pageOf(layout);
      layout.bytes.writeBigUInt64LE(BigInt(page), newestList(layout) + 8);
    }, 9_000);
    assert.match(said, new RegExp(`page ${page} is in use and listed as free`));
  }
});

test('a tree with more levels than LMDB makes is named', async () => {
  const said = await saysOf(({ bytes, meta }) => bytes.writeUInt16LE(33, meta + 48 + 6));
  assert.match(said, /is the root of a tree with too many levels/);
});

test('a list that names a page twice is named', async () => {
  const said = await saysOf((layout) => {
    const at = newestList(layout);
    layout.bytes.copy(layout.bytes, at + 8, at + 16, at + 24);
  });
  assert.match(said, /lists a page twice/);
});

test('a page whose entries have no valid count, or no valid place, is named', async () => {
  const damages: ((layout: Layout) => void)[] = [
    ({ bytes, leaf }) => bytes.writeUInt16LE(0, leaf + 20),
    ({ bytes, leaf }) => bytes.writeUInt16LE(bytes.readUInt16LE(leaf + 20) - 1, leaf + 20),
    ({ bytes, leaf }) => bytes.writeUInt16LE(bytes.readUInt16LE(leaf + 22) + 2, leaf + 20),
    ({ bytes, leaf, pageBytes }) => bytes.writeUInt16LE(pageBytes - 22, leaf + 22),
  ];
  for (const damage of damages) assert.match(await saysOf(damage), /has an invalid count of entries/);
  const places = [
    ({ bytes, leaf }: Layout) => bytes.readUInt16LE(leaf + 22) - 2,
    ({ pageBytes }: Layout) => pageBytes - 24 - 6,
  ];
  for (const placeOf of places) {
    const said = await saysOf((layout) => layout.bytes.writeUInt16LE(placeOf(layout), layout.leaf + 24));
    assert.match(said, /has an entry at an invalid offset/);
  }
});

test('a page of a commit that never was is named', async () => {
  const said = await saysOf(({ bytes, leaf }) => bytes.writeUInt8(1, leaf + 15));
  assert.match(said, /belongs to a later commit/);
});

test('a list of free pages that leads to a page of another kind is named', async () => {
  const said = await saysOf(({ bytes, list }) => bytes.writeUInt16LE(1, list + 18));
  assert.match(said, /has an unexpected kind/);
});

test('a page that does not begin the value that its leaf names is named', async () => {
  const runsOf = ({ bytes, pageBytes }: Layout) =>
    Array.from({ length: bytes.length / pageBytes }, (_, page) => page * pageBytes).filter(
      (at) => bytes.readUInt16LE(at + 18) === 4 && Number(bytes.readBigUInt64LE(at)) === at / pageBytes,
    );
  const damages: ((bytes: Buffer, at: number) => void)[] = [
    (bytes, at) => bytes.writeUInt16LE(2, at + 18),
    (bytes, at) => bytes.writeUInt32LE(bytes.readUInt32LE(at + 20) + 1, at + 20),
  ];
  for (const damage of damages) {
    const said = await saysOf((layout) => {
      for (const at of runsOf(layout)) damage(layout.bytes, at);
    }, 9_000);
    assert.match(said, /is not the first page of its value/);
  }
});

test.run();
