/** LMDB keeps a page's old version until it is reused, so zeros claim every free page once and are removed again. */
import { statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { ScrubDeferredError } from '../../group/ports/storage.js';
import { limits } from '../../limits.js';
import { freeBytesOf } from '../files/full-disk.js';
import { dataFileOf } from '../files/lmdb-file.js';
import { type LogEnvironment, onePageBytes, pageCountsOf } from './log-environment.js';
import { freePagesOf } from './page-check.js';

/** Commits the writes in one transaction that only the folder's owner can make. */
export type Commit = (write: () => Promise<boolean>) => Promise<void>;

/** How long to wait for readers of old pages, and how often to check them, in ms. */
export interface ScrubTimes {
  readonly scrubReaderWaitMs: number;
  readonly scrubReaderLookMs: number;
}

/** Up to this number, free pages are checked one by one; above it, only their number. */
const FEW_PAGES = 128;
/** Not claimed in bulk, which would grow the file: freed by the last two commits, or needed by a commit's trees. */
const SPARED_PAGES = 32;
/** Minimum number of claims that fit into one page of a tree. */
const CLAIMS_PER_PAGE = 64;
/** Consecutive claims that found none of the remaining pages. Each claims one page more than the one before. */
const FRUITLESS_MAX = 128;
/** Pages that a commit frees can be used two commits later, once no reader needs them. */
const FIRST_CLAIMS = 2;
/** Bytes of each page number in the list of free pages. */
const LISTED_BYTES = 8;
/** Pages to reserve in addition to those that are free when the scrub begins. */
const FURTHER_PAGES = 256;
const ROOM_KEY = Buffer.from([0xff, 0xff, 0xff, 0xff]);

/** Rejects with `ScrubDeferredError` if a reader uses old pages for too long, or others free too many. */
export async function scrubFreePages(
  environment: LogEnvironment,
  commit: Commit,
  times: ScrubTimes = limits,
  signal?: AbortSignal,
): Promise<void> {
  await rewriteLeaves(environment, commit);
  const { lastTxn } = pageCountsOf(environment);
  await removeScrubPages(environment, commit);
  for (let step = 0; step < FIRST_CLAIMS; step += 1) await claimPages(environment, commit, step, 1);
  await reservePages(environment, commit);
  const readersPass = (txn: number) => untilReadersPass(environment, txn, times, signal);
  await readersPass(lastTxn);
  await claimMany(environment, commit);
  await claimRemaining(environment, commit, readersPass);
  // Frees the reserved pages two commits before they are used.
  await commit(() => environment.scrub.remove(ROOM_KEY));
  await claimPages(environment, commit, 0, 1);
  await removeScrubPages(environment, commit);
}

export async function removeScrubPages(environment: LogEnvironment, commit: Commit): Promise<void> {
  const { root, scrub } = environment;
  const isEmpty = [...scrub.getKeys({ limit: 1 })].length === 0;
  root.resetReadTxn();
  if (!isEmpty) await commit(() => scrub.clearAsync().then(() => true));
}

/** The commit that frees all claims needs consecutive pages for its list, which would extend the file. */
async function reservePages(environment: LogEnvironment, commit: Commit): Promise<void> {
  const { freePages, pageBytes } = pageCountsOf(environment);
  const pages = Math.ceil(((freePages + FURTHER_PAGES) * LISTED_BYTES) / pageBytes);
  const zeros = Buffer.alloc((pages - 1) * pageBytes + onePageBytes(pageBytes));
  await commit(() => environment.scrub.put(ROOM_KEY, zeros));
}

/** Rewrites batches that moved out of their leaf page, unchanged: LMDB copies the page without the gap. */
async function rewriteLeaves(environment: LogEnvironment, commit: Commit): Promise<void> {
  const { root, log, moved } = environment;
  for (;;) {
    const keys = [...moved.getKeys({ limit: limits.redactionPieceBatches })];
    const values = keys.map((key) => log.getBinary(key));
    root.resetReadTxn();
    if (keys.length === 0) return;
    await commit(() => {
      for (const [i, key] of keys.entries()) {
        const value = values[i];
        if (value !== undefined) log.put(key, value);
        moved.remove(key);
      }
      return Promise.resolve(true);
    });
  }
}

/**
 * Claims pages in large pieces while the number of free pages permits it. If a reader holds the newest of them, LMDB
 * takes pages from the end of the file instead. This also claims pages that an interrupted commit left at the end.
 */
async function claimMany(environment: LogEnvironment, commit: Commit): Promise<void> {
  const { pageBytes } = pageCountsOf(environment);
  const filePages = Math.ceil(statSync(dataFileOf(environment.path)).size / pageBytes);
  let claimed = FIRST_CLAIMS;
  for (let freeMax = Number.POSITIVE_INFINITY; ; ) {
    const { freePages, lastPage } = pageCountsOf(environment);
    const behind = Math.max(0, filePages - 1 - lastPage);
    if (behind === 0 && (freePages <= FEW_PAGES || freePages > freeMax)) return;
    const spared = behind > 0 ? 0 : SPARED_PAGES + Math.ceil(freePages / CLAIMS_PER_PAGE);
    const pages = Math.min(freePages + behind - spared, pieceOf(pageBytes));
    await claimPages(environment, commit, claimed, pages);
    claimed += pages;
    freeMax = freePages - pages / 2;
  }
}

/**
 * Claims pages until none of those that are free now is left. A page counts as claimed once the list of free pages no
 * longer contains it: a page that is taken and freed within one commit is never written, and stays on the list. The
 * number of free pages is no measure, because each commit frees a few.
 */
async function claimRemaining(
  environment: LogEnvironment,
  commit: Commit,
  readersPass: (txn: number) => Promise<void>,
): Promise<void> {
  let left: ReadonlySet<number> | undefined;
  let lookedAt = 0;
  for (let fruitless = 0; fruitless < FRUITLESS_MAX; ) {
    const { pageBytes, lastTxn } = pageCountsOf(environment);
    const free = listedPagesOf(environment);
    const still = free && left ? new Set([...left].filter((page) => free.has(page))) : (free ?? left);
    if (still?.size === 0) return;
    if (left === undefined) lookedAt = lastTxn;
    fruitless = still === undefined || still.size === left?.size ? fruitless + 1 : 0;
    left = still;
    if (fruitless > 0) await readersPass(lookedAt);
    const pages = Math.max(1 + fruitless, (still?.size ?? 0) - SPARED_PAGES);
    // Write the same values again: the pages that they free are overwritten, and available to the next commits.
    await claimPages(environment, commit, 0, Math.min(pages, pieceOf(pageBytes)));
  }
  throw new ScrubDeferredError(`free pages of ${environment.path} could not be claimed, or are on no list`);
}

/** Undefined if it has fewer pages than are free: LMDB reserves one or two, or a commit happened meanwhile. */
function listedPagesOf(environment: LogEnvironment): ReadonlySet<number> | undefined {
  const { lastTxn, freePages } = pageCountsOf(environment);
  const listed = readFreePages(dataFileOf(environment.path));
  return listed?.size === freePages && pageCountsOf(environment).lastTxn === lastTxn ? listed : undefined;
}

/** Reads the list. A temporary failure, such as a lack of descriptors, only defers the scrub. */
function readFreePages(file: string): ReadonlySet<number> | undefined {
  try {
    return freePagesOf(file);
  } catch (error) {
    throw new ScrubDeferredError(`the list of free pages of ${file} could not be read`, { cause: error });
  }
}

function pieceOf(pageBytes: number): number {
  return Math.floor(limits.scrubPieceBytes / pageBytes);
}

async function claimPages(environment: LogEnvironment, commit: Commit, first: number, count: number): Promise<void> {
  const zeros = Buffer.alloc(onePageBytes(pageCountsOf(environment).pageBytes));
  await commit(() => {
    let written: Promise<boolean> = Promise.resolve(true);
    for (let page = first; page < first + count; page += 1) {
      const key = Buffer.allocUnsafe(4);
      key.writeUInt32BE(page);
      written = environment.scrub.put(key, zeros);
    }
    return written;
  });
}

/** Waits until no reader, such as that of another tool, uses commit `txn` or an older one. */
async function untilReadersPass(
  environment: LogEnvironment,
  txn: number,
  times: ScrubTimes,
  signal?: AbortSignal,
): Promise<void> {
  environment.root.readerCheck();
  const looks = Math.ceil(times.scrubReaderWaitMs / times.scrubReaderLookMs);
  for (let look = 0; look < looks; look += 1) {
    if (oldestReaderTxn(environment.root.readerList()) > txn) return;
    refuseIfAborted(signal);
    await delay(times.scrubReaderLookMs);
  }
  throw new ScrubDeferredError(
    `a reader of ${environment.path} uses old pages: erased bytes cannot be overwritten yet`,
  );
}

/** Defers the scrub on a full disk, because a commit without space would end the process. */
export function deferIfFull(path: string): void {
  if (freeBytesOf(path) >= limits.commitFreeBytes) return;
  throw new ScrubDeferredError(`the disk under ${path} is full: erased bytes cannot be overwritten yet`);
}

/** Defers the scrub to the next start if the node shuts down. */
export function refuseIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted)
    throw new ScrubDeferredError('the scrub is deferred to the next start, because the node is shutting down');
}

/** Parses lines of `pid thread txn`. The last field is `-` for an idle reader. Infinity if all are idle. */
function oldestReaderTxn(readerList: string): number {
  const readers = readerList.matchAll(/^\s*\d+\s+[0-9a-f]+\s+(\d+)$/gm);
  return Math.min(...Array.from(readers, ([, txn]) => Number(txn)));
}
