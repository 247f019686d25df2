/** Reads pages of an LMDB data file by plain reads, and checks each against the invariants of LMDB's own writes. */
import { readSync } from 'node:fs';
import {
  type MetaPage,
  OVERFLOW_PAGE_FLAG,
  PAGE_FLAGS_AT,
  PAGE_HEADER_BYTES,
  type PageTree,
  RUN_PAGES_AT,
} from '../files/lmdb-file.js';

// Layout of pages and nodes in lmdb-js's fork of LMDB, data version 2. Offsets in a page count from the end of its
// header.
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

/** A page that LMDB would not write. The message names the page and the fault. */
export class PageError extends Error {
  override readonly name = 'PageError';

  constructor(page: number, what: string) {
    super(`page ${page} ${what}`);
  }
}

export interface Leaf {
  readonly key: Buffer;
  readonly flags: number;
  readonly isTree: boolean;
  readonly valueBytes: number;
  /** Bytes in the page: the value, or the reference to its pages. */
  readonly inPage: Buffer;
}

export interface Run {
  readonly first: number;
  readonly count: number;
}

export class Pages {
  readonly #pageBytes: number;
  readonly #lastPage: number;
  readonly #txn: bigint;

  constructor(
    private readonly descriptor: number,
    { pageBytes, lastPage, txn }: MetaPage,
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

  leaves(page: number): Leaf[] {
    const { bytes, starts } = this.#entries(page, LEAF_PAGE_FLAG);
    const leaves = starts.map((at) => {
      const flags = bytes.readUInt16LE(at + NODE_FLAGS_AT);
      const valueBytes = bytes.readUInt32LE(at);
      const keyEnd = at + NODE_HEADER_BYTES + bytes.readUInt16LE(at + KEY_BYTES_AT);
      const key = bytes.subarray(at + NODE_HEADER_BYTES, keyEnd);
      const end = keyEnd + ((flags & RUN_NODE_FLAG) === 0 ? valueBytes : RUN_BYTES);
      if (flags > TREE_NODE_FLAG) throw new PageError(page, 'has an entry of an unknown kind');
      return {
        key,
        flags,
        isTree: flags === TREE_NODE_FLAG,
        valueBytes,
        inPage: bytes.subarray(keyEnd, end),
        size: end - at,
      };
    });
    this.#mustFill(
      page,
      bytes,
      starts,
      leaves.map(({ size }) => size),
    );
    return leaves;
  }

  runOf({ flags, valueBytes, inPage }: Leaf): Run | null {
    if ((flags & RUN_NODE_FLAG) === 0) return null;
    const run = { first: Number(inPage.readBigUInt64LE(0)), count: Number(inPage.readBigUInt64LE(16)) };
    const head = this.#read(run, PAGE_HEADER_BYTES);
    const isRun =
      head.readUInt16LE(PAGE_FLAGS_AT) === OVERFLOW_PAGE_FLAG &&
      head.readUInt32LE(RUN_PAGES_AT) === run.count &&
      PAGE_HEADER_BYTES + valueBytes <= run.count * this.#pageBytes;
    if (!isRun) throw new PageError(run.first, 'is not the first page of its value');
    return run;
  }

  valueOf(leaf: Leaf): Buffer {
    const run = this.runOf(leaf);
    return run === null
      ? leaf.inPage
      : this.#read(run, PAGE_HEADER_BYTES + leaf.valueBytes).subarray(PAGE_HEADER_BYTES);
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
    if (bytes.readUInt16LE(PAGE_FLAGS_AT) !== flag) throw new PageError(page, 'has an unexpected kind');
    const [lower, upper] = [bytes.readUInt16LE(LOWER_AT), bytes.readUInt16LE(UPPER_AT)];
    const end = this.#pageBytes - PAGE_HEADER_BYTES;
    if (lower === 0 || lower % 2 !== 0 || lower > upper || upper > end)
      throw new PageError(page, 'has an invalid count of entries');
    const starts: number[] = [];
    for (let at = 0; at < lower; at += 2) {
      const start = bytes.readUInt16LE(PAGE_HEADER_BYTES + at);
      if (start < upper || start + NODE_HEADER_BYTES > end)
        throw new PageError(page, 'has an entry at an invalid offset');
      starts.push(PAGE_HEADER_BYTES + start);
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
    const filled = this.#pageBytes - PAGE_HEADER_BYTES - bytes.readUInt16LE(UPPER_AT);
    if (sum !== filled) throw new PageError(page, 'has entries that do not fill it');
  }
}

/** Passes all pages of a tree to `take`, and the entries of all leaves or the newest to `read`. */
export function walk(
  pages: Pages,
  { depth, root }: PageTree,
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
