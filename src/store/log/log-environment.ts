/** Opens the LMDB environment of a log, and defines its databases and the format of its values. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Database, open } from 'lmdb';
import { NamedError } from '../../errors.js';
import { DamagedError, DiskFullError } from '../../group/ports/storage.js';
import { isFull } from '../files/full-disk.js';
import { dataFileOf, PAGE_HEADER_BYTES } from '../files/lmdb-file.js';
import { syncPath } from '../files/small-file.js';
import { META_PAGES, NODE_HEADER_BYTES } from './page-check.js';

const KEY_BYTES = 8;
const LENGTH_BYTES = 4;

/** Starts at the second write of a turn, see `LmdbLogWriter`. The declaration of `open` lacks this option. */
const startingAtOnce = { txnStartThreshold: 1 } as const;

/** The key of the owner record in `meta`. Its version is the owner's epoch. */
export const OWNER_KEY = Buffer.from('owner');

export interface LogEnvironment extends Readonly<ReturnType<typeof openLogEnvironment>> {}

const BUILDING = '.tmp-log-';

/** Built aside and renamed once synced: the file and each database are separate commits. One process wins. */
export async function formLogEnvironment(path: string): Promise<void> {
  if (existsSync(dataFileOf(path))) return;
  const building = mkdtempSync(join(dirname(path), BUILDING));
  try {
    await openLogEnvironment(building).root.close();
    rmSync(join(building, 'lock.mdb'), { force: true });
    await syncPath(dataFileOf(building));
    await syncPath(building);
    renameSync(building, path);
    await syncPath(dirname(path));
  } catch (error) {
    rmSync(building, { recursive: true, force: true });
    if (!existsSync(dataFileOf(path))) throw error;
  }
}

/** Removes the remains of an interrupted `formLogEnvironment` beside `path`. Only the owner may call it. */
export function removeHalfFormed(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    if (name.startsWith(BUILDING)) rmSync(join(dirname(path), name), { recursive: true, force: true });
  }
}

/** One per thread. With `readOnly` a missing database is damage: LMDB may not find one in a damaged file. */
export function openLogEnvironment(path: string, { readOnly = false } = {}) {
  if (!readOnly) mkdirSync(path, { recursive: true, mode: 0o700 });
  const binary = { encoding: 'binary', keyEncoding: 'binary', compression: false } as const;
  const root = open<Uint8Array, Uint8Array>(path, {
    ...binary,
    noSubdir: false,
    // The default mode acknowledged data that a power cut then lost.
    overlappingSync: false,
    // LMDB zeroes unused parts of pages, so that no erased data stays in a gap.
    noMemInit: false,
    eventTurnBatching: false,
    ...startingAtOnce,
    readOnly,
  });
  root.readerCheck();
  const database = (name: string, options: object = binary): Database<Uint8Array, Uint8Array> => {
    const opened: Database<Uint8Array, Uint8Array> | undefined = root.openDB(name, options);
    if (opened === undefined) throw new DamagedError(`${dataFileOf(path)}: its database "${name}" is missing`);
    return opened;
  };
  return {
    path,
    root,
    /** First sequence number (8 bytes, big-endian) -> framed batch. */
    log: database('log'),
    /** `owner` -> JSON of the owner, versioned by its epoch. */
    meta: database('meta', { ...binary, useVersions: true }),
    /** Zero pages, while a scrub runs. */
    scrub: database('scrub'),
    /** Keys of batches whose bytes moved out of their leaf page. The next scrub rewrites those pages. */
    moved: database('moved'),
  };
}

export function pageCountsOf(environment: LogEnvironment) {
  const { root, log, meta, scrub, moved } = environment;
  const stats = root.getStats() as TreeStats & {
    readonly pageSize: number;
    readonly lastPageNumber: number;
    readonly lastTxnId: number;
    readonly free: TreeStats;
  };
  const trees = [stats, stats.free, ...[log, meta, scrub, moved].map((database) => database.getStats() as TreeStats)];
  root.resetReadTxn();
  const reservedPages = trees.reduce(
    (pages, tree) => pages + tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages,
    META_PAGES,
  );
  return {
    pageBytes: stats.pageSize,
    lastPage: stats.lastPageNumber,
    lastTxn: stats.lastTxnId,
    /** Pages of the file that belong to no tree and are no meta pages. */
    freePages: stats.lastPageNumber + 1 - reservedPages,
  };
}

interface TreeStats {
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

/** Returns the longest value that needs exactly one overflow page, in bytes. */
export function onePageBytes(pageBytes: number): number {
  return pageBytes - PAGE_HEADER_BYTES;
}

export function keyOfSeq(seq: number): Buffer {
  const key = Buffer.allocUnsafe(KEY_BYTES);
  key.writeBigUInt64BE(BigInt(seq));
  return key;
}

export function seqOfKey(key: Uint8Array): number {
  return Number(Buffer.from(key.buffer, key.byteOffset, KEY_BYTES).readBigUInt64BE());
}

/**
 * A commit was refused, because it would have overwritten the newest one. LMDB keeps the number of the newest commit in
 * memory that processes share, and a process that opens the log writes there the number that it read before. The next
 * start reads the number from the file.
 */
export class HiddenCommitError extends NamedError {
  constructor(path: string) {
    super(`${dataFileOf(path)}: another process that opened it hides its newest commit; start the node again`);
  }
}

export function frame(bytes: Uint8Array, storedBytes = LENGTH_BYTES + bytes.length): Buffer {
  const framed = Buffer.allocUnsafeSlow(storedBytes);
  framed.writeUInt32BE(bytes.length);
  framed.set(bytes, LENGTH_BYTES);
  return framed.fill(0, LENGTH_BYTES + bytes.length);
}

export function unframe(framed: Uint8Array, seq: number): Uint8Array {
  // lmdb-js overrides `length` of a larger buffer, so only arithmetic on `length` is correct here.
  const view = new DataView(framed.buffer, framed.byteOffset);
  const length = framed.length < LENGTH_BYTES ? -1 : view.getUint32(0);
  if (length < 0 || LENGTH_BYTES + length > framed.length) {
    throw new DamagedError(`log: the batch at ${seq} is truncated: ${framed.length} bytes stored`);
  }
  return new Uint8Array(framed.buffer, framed.byteOffset + LENGTH_BYTES, length);
}

/**
 * Decides how a value of `bytes` replaces one stored in `oldBytes`. LMDB leaves the bytes of a shrunken or moved value
 * in the gap of a leaf page, where no scrub of free pages reaches them, and a leaf that splits loses track of its gaps.
 * So a value in a leaf page is overwritten in place at its old size, or moves out. A value in overflow pages stays in
 * overflow pages. No leaf page ever splits. `storedBytes` includes padding; `movesOut`: the value leaves its page, and
 * its old bytes stay.
 */
export function replacementOf(bytes: number, oldBytes: number, pageBytes: number) {
  const neededBytes = LENGTH_BYTES + bytes;
  const nodeBytesMax = (((pageBytes - PAGE_HEADER_BYTES) >> 1) & ~1) - 2;
  const isInLeaf = NODE_HEADER_BYTES + KEY_BYTES + oldBytes <= nodeBytesMax;
  if (isInLeaf && neededBytes <= oldBytes) return { storedBytes: oldBytes, movesOut: false };
  return { storedBytes: Math.max(neededBytes, pageBytes >> 1), movesOut: isInLeaf };
}

/** For the `catch` of a commit. lmdb-js attaches the original error as a promise that rejects. */
export function unknownOutcome(path: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof Error && 'commitError' in error && error.commitError instanceof Promise) {
      error.commitError.catch(() => undefined);
    }
    const what = `${dataFileOf(path)}: a commit failed and its outcome is not known`;
    // LMDB reports a full disk as an error of the disk.
    if (isFull(path)) throw new DiskFullError(`${what}: the disk is full`, { cause: error });
    throw new Error(what, { cause: error });
  };
}

/** LMDB's own errors, by their numbers in `lmdb.h`. Other numbers are system errors. */
const LMDB_ERROR_MIN = -30_799;
const LMDB_ERROR_MAX = -30_779;
/** EINVAL: LMDB's error for invalid pages before it has begun to read. */
const INVALID = 22;

/** Converts LMDB's errors about invalid pages to a `DamagedError`; returns any other error unchanged. */
export function namedDamage(error: unknown, path: string): unknown {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error && 'code' in cause && typeof cause.code === 'number')) return error;
  if ((cause.code < LMDB_ERROR_MIN || cause.code > LMDB_ERROR_MAX) && cause.code !== INVALID) return error;
  return new DamagedError(`${dataFileOf(path)}: ${cause.message}`, { cause: error });
}
