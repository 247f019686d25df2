/**
 * Looks at the pages of an LMDB data file that its next commit starts from: the list of free pages, which it takes
 * from, and the right edge of every tree, which it adds to. LMDB believes both and checks neither: it overwrites a page
 * that is in use but listed as free, a list that makes no sense ends the process, and a leaf that lost its newest
 * entry, or a branch that leads to an old page, is an older log that looks whole.
 */
import { closeSync, openSync } from 'node:fs';
import { Bits } from '../../core/bits.js';
import { DamagedError } from '../../group/ports/storage-errors.js';
import { type MetaPage, newestMeta, type PageTree, treeOf } from '../files/environment-file.js';
import { META_NAME } from './log-environment.js';
import { PageError, Pages, type Run, walk } from './pages.js';

const ITEM_BYTES = 8;
/** A living writer may use a page again while it is looked at: only what is wrong in a file at rest is damage. */
const LOOKS = 3;

/**
 * Throws `DamagedError` for what the next commit would stumble over in `file`, which `checkEnvironmentFile` passed.
 * Tells nothing of a file that is written to meanwhile. Reads the list and the branches, which are a two hundredth of a
 * log of small batches.
 */
export function checkPages(file: string): void {
  const descriptor = openSync(file, 'r');
  try {
    for (let look = 0; look < LOOKS; look += 1) {
      const meta = newestMeta(descriptor);
      const damage = meta && damageOf(descriptor, meta);
      if (damage === undefined) return;
      if (newestMeta(descriptor)?.txn === meta?.txn) throw new DamagedError(`${file}: ${damage}`);
    }
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The pages that `file` lists as free; undefined where the list makes no sense, as where commits come while it is read.
 * Reads all of it: it is for one that is short.
 */
export function freePagesOf(file: string): ReadonlySet<number> | undefined {
  const descriptor = openSync(file, 'r');
  try {
    const meta = newestMeta(descriptor);
    if (meta === undefined) return undefined;
    const free = new Set<number>();
    addFree(new Pages(descriptor, meta), meta, free, () => undefined);
    return free;
  } catch (error) {
    if (error instanceof PageError) return undefined;
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

function damageOf(descriptor: number, meta: MetaPage): string | undefined {
  const pages = new Pages(descriptor, meta);
  const free = new Bits();
  const refuseFree = ({ first, count }: Run) => {
    for (let page = first; page < first + count; page += 1) {
      if (free.has(page)) throw new PageError(page, 'is in use and listed as free');
    }
  };
  try {
    const ofList: Run[] = [];
    addFree(pages, meta, free, (run) => ofList.push(run));
    for (const run of ofList) refuseFree(run);
    checkTrees(pages, meta.main, refuseFree);
    return undefined;
  } catch (error) {
    if (error instanceof PageError) return error.message;
    throw error;
  }
}

/** Where the numbers of free pages go. */
interface FreePages {
  add(page: number): unknown;
}

/** Adds what the list names to `free`; takes the pages in which the list itself stands. */
function addFree(pages: Pages, { free: tree, txn }: MetaPage, free: FreePages, take: (run: Run) => void): void {
  let before = 0n;
  walk(pages, tree, 'whole', take, (leaf, page) => {
    const commit = leaf.key.length === ITEM_BYTES ? leaf.key.readBigUInt64LE(0) : 0n;
    if (commit <= before || commit > BigInt(txn)) throw new PageError(page, 'lists pages of no commit');
    if (leaf.isTree) throw new PageError(page, 'has a database among its lists');
    before = commit;
    addListed(pages, pages.valueOf(leaf), free, page);
  });
}

/**
 * A list of free pages: how many items follow, then items, of which 0 says nothing, a number above 0 is a page, and one
 * below 0 says how many pages there are from the one in the next item on.
 */
function addListed(pages: Pages, list: Buffer, free: FreePages, page: number): void {
  const items = list.length / ITEM_BYTES - 1;
  const listed = items >= 0 ? Number(list.readBigUInt64LE(0)) : -1;
  if (!Number.isInteger(items) || listed < 0 || listed > items) throw new PageError(page, 'lists more than it holds');
  const runs: Run[] = [];
  for (let item = 1; item <= listed; item += 1) {
    let first = Number(list.readBigInt64LE(item * ITEM_BYTES));
    if (first === 0) continue;
    let count = 1;
    if (first < 0) {
      item += 1;
      count = -first;
      first = item <= listed ? Number(list.readBigInt64LE(item * ITEM_BYTES)) : 0;
    }
    if (!pages.has(first, count)) throw new PageError(page, 'lists pages that the file does not have');
    runs.push({ first, count });
    for (let one = first; one < first + count; one += 1) free.add(one);
  }
  // Two lists may name one page, which LMDB passes over; a list that does so itself has it used twice.
  runs.sort((a, b) => a.first - b.first);
  for (const [i, { first }] of runs.entries()) {
    const before = runs[i - 1];
    if (before !== undefined && before.first + before.count > first) throw new PageError(page, 'lists a page twice');
  }
}

/**
 * Walks the tree of databases and the tree of each: all branches, and the leaf of the newest value. Walks all of
 * `meta`, which each start reads.
 */
function checkTrees(pages: Pages, main: PageTree, take: (run: Run) => void): void {
  walk(pages, main, 'whole', take, (database, page) => {
    const tree = database.isTree ? treeOf(database.inPage) : undefined;
    if (tree === undefined) throw new PageError(page, 'holds a record of a database that is cut');
    walk(pages, tree, database.key.equals(META_NAME) ? 'whole' : 'newest', take, (leaf, at) => {
      if (leaf.isTree) throw new PageError(at, 'has a database among its values');
    });
  });
}
