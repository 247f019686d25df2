/** The pages that a commit starts from are looked at before one is made, and damage of them has a name. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DamagedError, type StoredBatch } from '../../../src/group/ports/storage.js';
import { checkPages } from '../../../src/store/log/page-check.js';
import { acquireFolder } from '../../../src/store/ownership/owner.js';
import { verifyFolder } from '../../../src/workers/verify/verify-folder.js';
import { inFastFolder } from '../../faults/fault.js';
import { Random } from '../../support/random.js';
import { batchOf } from '../log-contract.js';

/** Bytes of values that stand in a leaf, in one page and in many of their own. */
const sizes = [40, 300, 1_500, 2_030, 2_040, 4_068, 9_000, 70_000];

test('a log is intact after every commit of a long life with rewrites, scrubs and restarts', () =>
  inFastFolder(async (dir) => {
    const file = join(dir, 'log', 'data.mdb');
    const random = new Random(20261120);
    let writer = await acquireFolder(dir);
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
async function saysOf(damage: (layout: Layout) => unknown, size?: number): Promise<string> {
  let said = '';
  await inFastFolder(async (dir) => {
    const file = join(dir, 'log', 'data.mdb');
    const writer = await acquireFolder(dir);
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

/** The pages on which a value of several pages begins. */
const runsOf = ({ bytes, pageBytes }: Layout) =>
  Array.from({ length: bytes.length / pageBytes }, (_, page) => page * pageBytes).filter(
    (at) => bytes.readUInt16LE(at + 18) === 4 && Number(bytes.readBigUInt64LE(at)) === at / pageBytes,
  );

/** Writes the first pages that the newest list names, behind their number. */
function listPages(layout: Layout, ...pages: readonly (bigint | number)[]): void {
  for (const [i, page] of pages.entries()) layout.bytes.writeBigInt64LE(BigInt(page), newestList(layout) + 8 + 8 * i);
}

/** Sets a number of 16 bits in the newest leaf to the one at `from`, plus `by`. `at` and `from` are offsets. */
const moveInLeaf =
  (at: number, by: number, from = at) =>
  (layout: Layout) =>
    layout.bytes.writeUInt16LE(layout.bytes.readUInt16LE(layout.leaf + from) + by, layout.leaf + at);

const lastPageOf = ({ bytes, meta }: Layout) => bytes.readBigInt64LE(meta + META_LAST_PAGE);

/** Bytes of a value that has three pages of its own. */
const long = 9_000;
const unknownPages = 'lists pages that the file does not have';
const invalidCount = 'has an invalid count of entries';
const invalidOffset = 'has an entry at an invalid offset';

for (const [what, damage, expected, size] of [
  ['that nothing damaged passes', () => undefined, ''],
  ['whose leaf lost its newest batch is named', moveInLeaf(20, -2), 'has entries that do not fill it'],
  [
    'whose list of free pages counts more than it holds is named: a commit on it would end the process',
    (log) => log.bytes.writeBigInt64LE(1n << 40n, newestList(log)),
    'lists more pages than it contains',
  ],
  [
    'that lists a page as free that is in use is named: the next commit would overwrite it',
    (log) => listPages(log, log.leaf / log.pageBytes),
    'is in use and listed as free',
  ],
  [
    'that lists the last page of its newest value is named',
    (log) => listPages(log, Number(log.bytes.readBigUInt64LE(valueIn(log.bytes, log.leaf))) + 2),
    'is in use and listed as free',
    long,
  ],
  ['that lists a page far behind its end is named', (log) => listPages(log, 1n << 40n), unknownPages],
  ['that lists a meta page is named', (log) => listPages(log, 1), unknownPages],
  ['that lists the page behind its last is named', (log) => listPages(log, lastPageOf(log) + 1n), unknownPages],
  ['that lists a run beyond its last page is named', (log) => listPages(log, -2n, lastPageOf(log)), unknownPages],
  [
    'that lists a page twice is named',
    (log) => log.bytes.copy(log.bytes, newestList(log) + 8, newestList(log) + 16, newestList(log) + 24),
    'lists a page twice',
  ],
  [
    'whose list is of a commit that is not newer than that of the list before is named',
    (log) =>
      log.bytes.writeBigUInt64LE(log.bytes.readBigUInt64LE(valueIn(log.bytes, log.list, -2) - 8), newestList(log) - 8),
    'lists pages of no commit',
  ],
  [
    'whose list is of a commit that never was is named',
    (log) => log.bytes.writeBigUInt64LE(log.bytes.readBigUInt64LE(log.meta + META_TXN) + 1n, newestList(log) - 8),
    'lists pages of no commit',
  ],
  [
    'with a tree of more levels than LMDB makes is named',
    (log) => log.bytes.writeUInt16LE(33, log.meta + 48 + 6),
    'is the root of a tree with too many levels',
  ],
  ['with a page of no entries is named', (log) => log.bytes.writeUInt16LE(0, log.leaf + 20), invalidCount],
  ['with a page of half an entry is named', moveInLeaf(20, -1), invalidCount],
  ['with a page of more entries than fit is named', moveInLeaf(20, 2, 22), invalidCount],
  [
    'with a page whose entries begin behind its end is named',
    (log) => log.bytes.writeUInt16LE(log.pageBytes - 22, log.leaf + 22),
    invalidCount,
  ],
  ['with an entry before the others is named', moveInLeaf(24, -2, 22), invalidOffset],
  [
    'with an entry that its page cannot hold is named',
    (log) => log.bytes.writeUInt16LE(log.pageBytes - 24 - 6, log.leaf + 24),
    invalidOffset,
  ],
  [
    'with a page of a commit that never was is named',
    (log) => log.bytes.writeUInt8(1, log.leaf + 15),
    'belongs to a later commit',
  ],
  [
    'whose list of free pages leads to a page of another kind is named',
    (log) => log.bytes.writeUInt16LE(1, log.list + 18),
    'has an unexpected kind',
  ],
  [
    'with a leaf where a value should begin is named',
    (log) => runsOf(log).map((at) => log.bytes.writeUInt16LE(2, at + 18)),
    'is not the first page of its value',
    long,
  ],
  [
    'with a value of another length than its leaf says is named',
    (log) => runsOf(log).map((at) => log.bytes.writeUInt32LE(log.bytes.readUInt32LE(at + 20) + 1, at + 20)),
    'is not the first page of its value',
    long,
  ],
] as readonly (readonly [what: string, damage: (layout: Layout) => unknown, expected: string, size?: number])[]) {
  test(`a log ${what}`, async () => assert.match(await saysOf(damage, size), new RegExp(expected || '^$')));
}

test('a page of the list itself that is listed as free is named by its number', async () => {
  let page = 0;
  const said = await saysOf((log) => {
    page = log.list / log.pageBytes;
    listPages(log, page);
  });
  assert.match(said, `page ${page} is in use and listed as free`);
});

test.run();
