/**
 * Checks the pages of an LMDB data file that its next commit uses: the list of free pages, and the right edge of every
 * tree. LMDB checks neither: it overwrites a page that is in use but listed as free, and an invalid list ends the
 * process. A leaf without its newest entry, or a branch to an old page, looks like an intact older log.
 */
import { Bits } from '../../core/bits.js';
import { DamagedError } from '../../group/ports/storage-errors.js';
import { type MetaPage, newestMeta, type PageTree, treeOf, withFile } from '../files/lmdb-file.js';
import { META_NAME } from './log-environment.js';
import { PageError, Pages, type Run, walk } from './pages.js';

const ITEM_BYTES = 8;
/** Reads of a page that a running writer may reuse meanwhile. Only a fault that persists is damage. */
const LOOKS = 3;

/** Reads the list and the branches, about a 200th of the log. No result if the file is written to meanwhile. */
export function checkPages(file: string): void {
  withFile(file, (descriptor) => {
    for (let look = 0; look < LOOKS; look += 1) {
      const meta = newestMeta(descriptor);
      const damage = meta && damageOf(descriptor, meta);
      if (damage === undefined) return;
      if (newestMeta(descriptor)?.txn === meta?.txn) throw new DamagedError(`${file}: ${damage}`);
    }
  });
}

/** Undefined if the list is invalid, for example because of a commit during the read. Suits short lists only. */
export function freePagesOf(file: string): ReadonlySet<number> | undefined {
  return withFile(file, (descriptor) => {
    const meta = newestMeta(descriptor);
    if (meta === undefined) return undefined;
    const free = new Set<number>();
    const error = faultOf(() => addFree(new Pages(descriptor, meta), meta, free, () => undefined));
    return error === undefined ? free : undefined;
  });
}

function faultOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof PageError) return error.message;
    throw error;
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
  return faultOf(() => {
    const ofList: Run[] = [];
    addFree(pages, meta, free, (run) => ofList.push(run));
    for (const run of ofList) refuseFree(run);
    checkTrees(pages, meta.main, refuseFree);
  });
}

interface FreePages {
  add(page: number): unknown;
}

/** Adds the pages of the list to `free`. Passes the pages of the list itself to `take`. */
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
 * Reads a list of free pages: the number of items, then the items. An item of 0 is empty, a positive number is a page,
 * and a negative number is the length of a run that starts at the page in the next item.
 */
function addListed(pages: Pages, list: Buffer, free: FreePages, page: number): void {
  const items = list.length / ITEM_BYTES - 1;
  const listed = items >= 0 ? Number(list.readBigUInt64LE(0)) : -1;
  if (!Number.isInteger(items) || listed < 0 || listed > items)
    throw new PageError(page, 'lists more pages than it contains');
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
  // Two lists may name the same page, which LMDB skips. A list that names a page twice makes LMDB use the page twice.
  runs.sort((a, b) => a.first - b.first);
  for (const [i, { first }] of runs.entries()) {
    const before = runs[i - 1];
    if (before !== undefined && before.first + before.count > first) throw new PageError(page, 'lists a page twice');
  }
}

/** All branches, and the leaf of the newest value; all of `meta`, because each start reads it. */
function checkTrees(pages: Pages, main: PageTree, take: (run: Run) => void): void {
  walk(pages, main, 'whole', take, (database, page) => {
    const tree = database.isTree ? treeOf(database.inPage) : undefined;
    if (tree === undefined) throw new PageError(page, 'contains a truncated record of a database');
    walk(pages, tree, database.key.equals(META_NAME) ? 'whole' : 'newest', take, (leaf, at) => {
      if (leaf.isTree) throw new PageError(at, 'has a database among its values');
    });
  });
}
