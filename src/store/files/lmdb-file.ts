/** Checks an LMDB file before it is mapped: access beyond its end kills the process, and 0 bytes open as empty. */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../errors.js';
import { DamagedError } from '../../group/ports/storage.js';

// Layout of page headers and of `MDB_meta` in lmdb-js's fork of LMDB, data version 2. Numbers are little-endian.
export const PAGE_HEADER_BYTES = 24;
const META_BYTES = 168;
const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const MAGIC_AT = PAGE_HEADER_BYTES;
const VERSION_AT = MAGIC_AT + 4;
const PAGE_SIZE_AT = MAGIC_AT + 24;
const FREE_TREE_AT = MAGIC_AT + 24;
const TREE_BYTES = 48;
const TREE_DEPTH_AT = 6;
const TREE_ROOT_AT = 40;
const MAIN_TREE_AT = FREE_TREE_AT + TREE_BYTES;
const LAST_PAGE_AT = MAGIC_AT + 120;
const TXN_AT = MAGIC_AT + 128;
export const PAGE_FLAGS_AT = 18;
export const RUN_PAGES_AT = 20;
const META_PAGE_FLAG = 0x08;
export const OVERFLOW_PAGE_FLAG = 0x04;
const PAGE_BYTES_MIN = 512;
const PAGE_BYTES_MAX = 65_536;
/** Attempts to read the meta pages, which a writer may change meanwhile. Only a lasting fault is damage. */
const META_READ_ATTEMPTS = 3;

/** A tree of pages, as LMDB's record of a database describes it. */
export interface PageTree {
  /** Number of levels; 0 for an empty tree, whose `root` is then meaningless. */
  readonly depth: number;
  readonly root: number;
}

/** The state that a commit records in its meta page. */
export type MetaPage = NonNullable<ReturnType<typeof readMeta>>;

export function dataFileOf(folder: string): string {
  return join(folder, 'data.mdb');
}

/** Throws `DamagedError` for a missing, empty or cut file, or invalid meta pages. Checksums check the content. */
export function checkEnvironmentFile(file: string): void {
  try {
    withFile(file, (descriptor) => {
      let damage: string | undefined;
      for (let attempt = 0; attempt < META_READ_ATTEMPTS; attempt += 1) {
        damage = damageOf(descriptor);
        if (damage === undefined) return;
      }
      throw new DamagedError(`${file}: ${damage}`);
    });
  } catch (error) {
    throw hasCode(error, 'ENOENT') ? new DamagedError(`${file}: the file is missing`) : error;
  }
}

export function withFile<T>(file: string, use: (descriptor: number) => T): T {
  const descriptor = openSync(file, 'r');
  try {
    return use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function damageOf(descriptor: number): string | undefined {
  if (fstatSync(descriptor).size === 0) return 'the file is empty';
  const first = readMeta(descriptor, 0);
  if (first === undefined) return 'the first meta page is not valid';
  const second = readMeta(descriptor, first.pageBytes);
  if (second === undefined) return 'the second meta page is not valid';
  if (second.pageBytes !== first.pageBytes) return 'the meta pages have different page sizes';
  const newest = second.txn > first.txn ? second : first;
  // Each commit writes the older of the two meta pages. If one had lost its number, LMDB would open an older state.
  const commitsApart = Math.abs(second.txn - first.txn);
  if (commitsApart !== 1 && newest.txn > 0) return 'the meta pages are not those of the last two commits';
  const expectedBytes = (newest.lastPage + 1) * newest.pageBytes;
  // The size is read after the meta pages, because a writer extends the file before it publishes the pages.
  const { size } = fstatSync(descriptor);
  return size < expectedBytes ? `the file has ${size} bytes, and its pages need ${expectedBytes}` : undefined;
}

/** Returns the meta page of the newest commit in a file that `checkEnvironmentFile` accepted. */
export function newestMeta(descriptor: number): MetaPage | undefined {
  const first = readMeta(descriptor, 0);
  const second = first && readMeta(descriptor, first.pageBytes);
  return first && second && second.txn > first.txn ? second : first;
}

/** Returns the tree of the database whose record starts the bytes; undefined if there are too few bytes. */
export function treeOf(record: Buffer): PageTree | undefined {
  if (record.length < TREE_BYTES) return undefined;
  return { depth: record.readUInt16LE(TREE_DEPTH_AT), root: Number(record.readBigUInt64LE(TREE_ROOT_AT)) };
}

function readMeta(descriptor: number, offset: number) {
  const page = Buffer.alloc(META_BYTES + PAGE_HEADER_BYTES);
  if (readSync(descriptor, page, 0, page.length, offset) < page.length) return undefined;
  if ((page.readUInt16LE(PAGE_FLAGS_AT) & META_PAGE_FLAG) === 0) return undefined;
  if (page.readUInt32LE(MAGIC_AT) !== MAGIC) return undefined;
  if ((page.readUInt32LE(VERSION_AT) & 0xffff) !== DATA_VERSION) return undefined;
  const pageBytes = page.readUInt32LE(PAGE_SIZE_AT);
  const isPowerOfTwo = (pageBytes & (pageBytes - 1)) === 0;
  if (!isPowerOfTwo || pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX) return undefined;
  return {
    pageBytes,
    lastPage: Number(page.readBigUInt64LE(LAST_PAGE_AT)),
    txn: Number(page.readBigUInt64LE(TXN_AT)),
    /** Commit -> list of the pages that it freed. */
    free: treeOf(page.subarray(FREE_TREE_AT))!,
    /** Name -> record of a database. */
    main: treeOf(page.subarray(MAIN_TREE_AT))!,
  };
}

/** Returns whether the path exists. Throws if this cannot be determined, for example in a folder without access. */
export function isThere(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}
