/**
 * Looks at the pages of an LMDB data file that its next commit starts from: the list of free pages, which it takes from, and the
 * right edge of every tree, which it adds to. LMDB believes both and checks neither: it overwrites a page that is in use but
 * listed as free, a list that makes no sense ends the process, and a leaf that lost its newest entry, or a branch that leads
 * to an old page, is an older log that looks whole.
 */
import { closeSync, openSync } from 'node:fs';
import { DamagedError } from '../group/ports.js';
import { type MetaPage, newestMeta, type PageTree, treeOf } from './environment-file.js';
import { type Leaf, PageError, Pages, type Run } from './pages.js';

/** The value is the record of a database. */
const TREE_NODE_FLAG = 0x02;
const ITEM_BYTES = 8;
const DEPTH_MAX = 32;
/** A living writer may use a page again while it is looked at: only what is wrong in a file at rest is damage. */
const LOOKS = 3;

/**
 * Throws `DamagedError` for what the next commit would stumble over in `file`, which `checkEnvironmentFile` passed. Tells nothing of
 * a file that is written to meanwhile. Takes as long as the list of free pages is, however long the log.
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

function damageOf(descriptor: number, meta: MetaPage): string | undefined {
  const pages = new Pages(descriptor, meta);
  const free = new PageSet(meta.lastPage);
  try {
    const edges = [...listFree(pages, meta, free), ...edgesOf(pages, meta.main)];
    for (const run of edges) {
      for (let page = run.first; page < run.first + run.count; page += 1) {
        if (free.has(page)) throw new PageError(page, 'is in use and listed as free');
      }
    }
    return undefined;
  } catch (error) {
    if (error instanceof PageError) return error.message;
    throw error;
  }
}

/** Numbers of pages of a file, a bit for each. */
class PageSet {
  readonly #bits: Uint8Array;

  constructor(lastPage: number) {
    this.#bits = new Uint8Array((lastPage >> 3) + 1);
  }

  add(page: number): void {
    this.#bits[page >> 3]! |= 1 << (page & 7);
  }

  has(page: number): boolean {
    return (this.#bits[page >> 3]! & (1 << (page & 7))) !== 0;
  }
}

/** Fills `free` from the list; yields the pages in which the list itself stands. */
function* listFree(pages: Pages, { free: tree, txn }: MetaPage, free: PageSet): Generator<Run> {
  let before = 0n;
  for (const found of walk(pages, tree)) {
    if ('first' in found) {
      yield found;
      continue;
    }
    const { leaf, page } = found;
    const commit = leaf.key.length === ITEM_BYTES ? leaf.key.readBigUInt64LE(0) : 0n;
    if (commit <= before || commit > BigInt(txn)) throw new PageError(page, 'lists pages of no commit');
    before = commit;
    const run = pages.runOf(leaf);
    if (run !== null) yield run;
    addListed(pages, pages.valueOf(leaf), free, page);
  }
}

/**
 * A list of free pages: how many items are behind it, then items, of which 0 says nothing, a number above 0 is a page, and one below 0
 * says how many pages there are from the one in the next item on.
 */
function addListed(pages: Pages, list: Buffer, free: PageSet, page: number): void {
  const items = list.length / ITEM_BYTES - 1;
  const listed = items >= 0 ? Number(list.readBigUInt64LE(0)) : -1;
  if (!Number.isInteger(items) || listed < 0 || listed > items) throw new PageError(page, 'lists more than it holds');
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
    for (let one = first; one < first + count; one += 1) free.add(one);
  }
}

/** All pages of the tree of databases, and of each database those that lead to its newest value. */
function* edgesOf(pages: Pages, main: PageTree): Generator<Run> {
  for (const found of walk(pages, main)) {
    if ('first' in found) yield found;
    else if ((found.leaf.flags & TREE_NODE_FLAG) !== 0) yield* edge(pages, recordOf(found.leaf, found.page));
  }
}

function recordOf(leaf: Leaf, page: number): PageTree {
  const tree = treeOf(leaf.inPage);
  if (tree === undefined) throw new PageError(page, 'holds a record of a database that is cut');
  return tree;
}

function* edge(pages: Pages, { depth, root }: PageTree): Generator<Run> {
  if (depth === 0) return;
  let page = root;
  for (let level = levelOf(depth, root); level > 0; level -= 1) {
    yield { first: page, count: 1 };
    page = pages.branches(page).at(-1)!.child;
  }
  yield { first: page, count: 1 };
  const run = pages.runOf(pages.leaves(page).at(-1)!);
  if (run !== null) yield run;
}

/** Every page of a tree and every entry of its leaves, in order. */
function walk(pages: Pages, { depth, root }: PageTree): Iterable<Run | { readonly leaf: Leaf; readonly page: number }> {
  return depth === 0 ? [] : below(pages, root, levelOf(depth, root));
}

function* below(
  pages: Pages,
  page: number,
  level: number,
): Generator<Run | { readonly leaf: Leaf; readonly page: number }> {
  yield { first: page, count: 1 };
  if (level === 0) for (const leaf of pages.leaves(page)) yield { leaf, page };
  else for (const { child } of pages.branches(page)) yield* below(pages, child, level - 1);
}

/** How many levels the root of a tree stands above its leaves. */
function levelOf(depth: number, root: number): number {
  if (depth > DEPTH_MAX) throw new PageError(root, 'begins a tree of too many levels');
  return depth - 1;
}
