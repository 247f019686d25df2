/**
 * Checks the pages of an LMDB data file that its next commit uses: the list of free pages, and the right edge of every
 * tree. LMDB checks neither: it overwrites a page that is in use but listed as free, and an invalid list ends the
 * process. A leaf without its newest entry, or a branch to an old page, looks like an intact older log.
 */
import { readSync } from 'node:fs';
import { Bits } from '../../core/bits.js';
import { NamedError } from '../../errors.js';
import { DamagedError } from '../../group/ports/storage.js';
import * as lmdb from '../files/lmdb-file.js';

// Layout of pages and nodes in lmdb-js's fork of LMDB, data version 2. Offsets count from the end of the header.
const PAGE_TXN_AT = 8;
const LOWER_AT = 20;
const UPPER_AT = 22;
const BRANCH_PAGE_FLAG = 0x01;
const LEAF_PAGE_FLAG = 0x02;
export const NODE_HEADER_BYTES = 8;
const NODE_FLAGS_AT = 4;
const KEY_BYTES_AT = 6;
export const META_PAGES = 2;
/** The value has its own pages. The node contains the first page, a commit and the number of pages, 8 bytes each. */
const RUN_NODE_FLAG = 0x01;
/** The value is the record of a database. */
const TREE_NODE_FLAG = 0x02;
const RUN_BYTES = 24;
const DEPTH_MAX = 32;
/** The name of the database `meta` as LMDB stores it. */
const META_NAME = Buffer.from('meta\0');

/** A page that LMDB would not write. The message names the page and the fault. */
export class PageError extends NamedError {
  constructor(page: number, what: string) {
    super(`page ${page} ${what}`);
  }
}

type Leaf = ReturnType<Pages['leaves']>[number];

export interface Run {
  readonly first: number;
  readonly count: number;
}

/** Reads pages by plain reads, and checks each against the invariants of LMDB's own writes. */
export class Pages {
  readonly #pageBytes: number;
  readonly #lastPage: number;
  readonly #txn: bigint;

  constructor(
    private readonly descriptor: number,
    { pageBytes, lastPage, txn }: lmdb.MetaPage,
  ) {
    this.#pageBytes = pageBytes;
    this.#lastPage = lastPage;
    this.#txn = BigInt(txn);
  }

  /** Returns whether a tree, or the list of free pages, can have `count` pages from `page` on. */
  has(page: number, count = 1): boolean {
    return page >= META_PAGES && count >= 1 && page + count - 1 <= this.#lastPage;
  }

  branches(page: number): number[] {
    const { bytes, starts } = this.#entries(page, BRANCH_PAGE_FLAG);
    const sizes = starts.map((at) => NODE_HEADER_BYTES + bytes.readUInt16LE(at + KEY_BYTES_AT));
    this.#mustFill(page, bytes, starts, sizes);
    // Page numbers have six bytes. The flags of a leaf's entry are the highest two bytes here.
    return starts.map((at) => bytes.readUIntLE(at, 6));
  }

  leaves(page: number) {
    const { bytes, starts } = this.#entries(page, LEAF_PAGE_FLAG);
    const leaves = starts.map((at) => {
      const flags = bytes.readUInt16LE(at + NODE_FLAGS_AT);
      const valueBytes = bytes.readUInt32LE(at);
      const keyEnd = at + NODE_HEADER_BYTES + bytes.readUInt16LE(at + KEY_BYTES_AT);
      const key = bytes.subarray(at + NODE_HEADER_BYTES, keyEnd);
      const end = keyEnd + ((flags & RUN_NODE_FLAG) === 0 ? valueBytes : RUN_BYTES);
      if (flags > TREE_NODE_FLAG) throw new PageError(page, 'has an entry of an unknown kind');
      // The value, or the reference to its pages.
      const inPage = bytes.subarray(keyEnd, end);
      return { key, flags, isTree: flags === TREE_NODE_FLAG, valueBytes, inPage, size: end - at };
    });
    const sizes = leaves.map(({ size }) => size);
    this.#mustFill(page, bytes, starts, sizes);
    return leaves;
  }

  runOf({ flags, valueBytes, inPage }: Leaf): Run | null {
    if ((flags & RUN_NODE_FLAG) === 0) return null;
    const run = { first: Number(inPage.readBigUInt64LE(0)), count: Number(inPage.readBigUInt64LE(16)) };
    const head = this.#read(run, lmdb.PAGE_HEADER_BYTES);
    const isRun =
      head.readUInt16LE(lmdb.PAGE_FLAGS_AT) === lmdb.OVERFLOW_PAGE_FLAG &&
      head.readUInt32LE(lmdb.RUN_PAGES_AT) === run.count &&
      lmdb.PAGE_HEADER_BYTES + valueBytes <= run.count * this.#pageBytes;
    if (!isRun) throw new PageError(run.first, 'is not the first page of its value');
    return run;
  }

  valueOf(leaf: Leaf): Buffer {
    const run = this.runOf(leaf);
    return run === null
      ? leaf.inPage
      : this.#read(run, lmdb.PAGE_HEADER_BYTES + leaf.valueBytes).subarray(lmdb.PAGE_HEADER_BYTES);
  }

  #read(run: Run, length: number): Buffer {
    if (!this.has(run.first, run.count)) throw new PageError(run.first, 'is not in the file');
    const bytes = Buffer.alloc(length);
    const read = readSync(this.descriptor, bytes, 0, length, run.first * this.#pageBytes);
    if (read < length) throw new PageError(run.first, 'is truncated');
    if (bytes.readBigUInt64LE(0) !== BigInt(run.first))
      throw new PageError(run.first, 'contains the number of another page');
    if (bytes.readBigUInt64LE(PAGE_TXN_AT) > this.#txn) throw new PageError(run.first, 'belongs to a later commit');
    return bytes;
  }

  #entries(page: number, flag: number): { readonly bytes: Buffer; readonly starts: number[] } {
    const bytes = this.#read({ first: page, count: 1 }, this.#pageBytes);
    if (bytes.readUInt16LE(lmdb.PAGE_FLAGS_AT) !== flag) throw new PageError(page, 'has an unexpected kind');
    const [lower, upper] = [bytes.readUInt16LE(LOWER_AT), bytes.readUInt16LE(UPPER_AT)];
    const end = this.#pageBytes - lmdb.PAGE_HEADER_BYTES;
    if (lower === 0 || lower % 2 !== 0 || lower > upper || upper > end)
      throw new PageError(page, 'has an invalid count of entries');
    const starts: number[] = [];
    for (let at = 0; at < lower; at += 2) {
      const start = bytes.readUInt16LE(lmdb.PAGE_HEADER_BYTES + at);
      if (start < upper || start + NODE_HEADER_BYTES > end)
        throw new PageError(page, 'has an entry at an invalid offset');
      starts.push(lmdb.PAGE_HEADER_BYTES + start);
    }
    return { bytes, starts };
  }

  /** Checks that the entries fill the page without a gap. A lost or duplicate entry changes the sum. */
  #mustFill(page: number, bytes: Buffer, starts: readonly number[], sizes: readonly number[]): void {
    let sum = 0;
    for (const [i, size] of sizes.entries()) {
      if (starts[i]! + size > this.#pageBytes) throw new PageError(page, 'has a truncated entry');
      sum += size + (size % 2);
    }
    const filled = this.#pageBytes - lmdb.PAGE_HEADER_BYTES - bytes.readUInt16LE(UPPER_AT);
    if (sum !== filled) throw new PageError(page, 'has entries that do not fill it');
  }
}

/** Passes all pages of a tree to `take`, and the entries of all leaves or the newest to `read`. */
export function walk(
  pages: Pages,
  { depth, root }: lmdb.PageTree,
  leaves: 'whole' | 'newest',
  take: (run: Run) => void,
  read: (leaf: Leaf, page: number) => void,
): void {
  if (depth === 0) return;
  if (depth > DEPTH_MAX) throw new PageError(root, 'is the root of a tree with too many levels');
  const below = (page: number, level: number, isNewest: boolean): void => {
    if (!pages.has(page)) throw new PageError(page, 'is not in the file');
    take({ first: page, count: 1 });
    if (level > 0) {
      const branches = pages.branches(page);
      for (const [i, child] of branches.entries()) below(child, level - 1, isNewest && i === branches.length - 1);
      return;
    }
    if (leaves === 'newest' && !isNewest) return;
    const entries = pages.leaves(page);
    for (const leaf of leaves === 'whole' ? entries : entries.slice(-1)) {
      const run = pages.runOf(leaf);
      if (run !== null) take(run);
      read(leaf, page);
    }
  };
  below(root, depth - 1, true);
}

const ITEM_BYTES = 8;
/** Reads of a page that a running writer may reuse meanwhile. Only a fault that persists is damage. */
const LOOKS = 3;

/** Reads the list and the branches, about a 200th of the log. No result if the file is written to meanwhile. */
export function checkPages(file: string): void {
  lmdb.withFile(file, (descriptor) => {
    for (let look = 0; look < LOOKS; look += 1) {
      const meta = lmdb.newestMeta(descriptor);
      const damage = meta && damageOf(descriptor, meta);
      if (damage === undefined) return;
      if (lmdb.newestMeta(descriptor)?.txn === meta?.txn) throw new DamagedError(`${file}: ${damage}`);
    }
  });
}

/** Undefined if the list is invalid, for example because of a commit during the read. Suits short lists only. */
export function freePagesOf(file: string): ReadonlySet<number> | undefined {
  return lmdb.withFile(file, (descriptor) => {
    const meta = lmdb.newestMeta(descriptor);
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

function damageOf(descriptor: number, meta: lmdb.MetaPage): string | undefined {
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

/** Adds the pages of the list to `free`. Passes the pages of the list itself to `take`. */
function addFree(
  pages: Pages,
  { free: tree, txn }: lmdb.MetaPage,
  free: Pick<Bits, 'add'> | Set<number>,
  take: (run: Run) => void,
): void {
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
function addListed(pages: Pages, list: Buffer, free: Pick<Bits, 'add'> | Set<number>, page: number): void {
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
function checkTrees(pages: Pages, main: lmdb.PageTree, take: (run: Run) => void): void {
  walk(pages, main, 'whole', take, (database, page) => {
    const tree = database.isTree ? lmdb.treeOf(database.inPage) : undefined;
    if (tree === undefined) throw new PageError(page, 'contains a truncated record of a database');
    walk(pages, tree, database.key.equals(META_NAME) ? 'whole' : 'newest', take, (leaf, at) => {
      if (leaf.isTree) throw new PageError(at, 'has a database among its values');
    });
  });
}
