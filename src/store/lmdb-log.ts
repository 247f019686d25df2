/**
 * The append log in LMDB: readers for every thread, and the one writer, each of whose commits holds only while its owner
 * record stands. How an owner comes to be is `owner.ts`; what erasing leaves behind is `scrub.ts`.
 */
import { join } from 'node:path';
import { ABORT, IF_EXISTS } from 'lmdb';
import { DamagedError, type LogReader, type LogWriter, OwnerLostError, type StoredBatch } from '../group/ports.js';
import { limits } from '../limits.js';
import { checkEnvironmentFile, dataFileOf } from './environment-file.js';
import {
  frame,
  keyOfSeq,
  type LogEnvironment,
  namedDamage,
  OWNER_KEY,
  openLogEnvironment,
  type PageCounts,
  pageCountsOf,
  replacementOf,
  seqOfKey,
  startWriting,
  unframe,
  unknownOutcome,
} from './log-environment.js';
import { refuseIfAborted, removeScrubPages, scrubFreePages } from './scrub.js';

/** Of a commit that does not meet the newest batch. */
const TRIES = 3;
/** Below that of every batch: records count from 1. */
const FIRST_KEY = keyOfSeq(0);
const MOVED = Buffer.from([1]);
/** Values of two pages each: enough for LMDB to take pages that are free. */
const WRITES_TRIED = 8;
const TRIED_BYTES = 5_000;

/** Folder of the log's LMDB environment in a data folder. */
export function logFolderOf(dataDir: string): string {
  return join(dataDir, 'log');
}

/**
 * Opens the log of a data folder for reading. Throws `DamagedError` where there is none or its file is cut. `alone`: nothing else of
 * this process has it open, and nothing in it may change, not even by LMDB's own hand.
 */
export function openLogReader(dataDir: string, { alone = false } = {}): LmdbLogReader {
  const folder = logFolderOf(dataDir);
  checkEnvironmentFile(dataFileOf(folder));
  try {
    return new LmdbLogReader(openLogEnvironment(folder, { readOnly: alone }));
  } catch (error) {
    throw namedDamage(error, folder);
  }
}

/**
 * Begins to write to the log of a data folder, which holds one, and takes it back: nothing is changed. LMDB looks at its list of free
 * pages only then, and may end the process where that is damaged: so it is tried in one that may end. Rejects with `DamagedError`
 * for damage that LMDB tells.
 */
export async function tryWriting(dataDir: string): Promise<void> {
  const folder = logFolderOf(dataDir);
  const { root, log } = openLogEnvironment(folder);
  try {
    root.transactionSync(() => {
      for (let tried = 0; tried < WRITES_TRIED; tried++) log.putSync(keyOfSeq(tried), Buffer.alloc(TRIED_BYTES));
      return ABORT;
    });
  } catch (error) {
    throw namedDamage(error, folder);
  } finally {
    await root.close();
  }
}

export class LmdbLogReader implements LogReader {
  protected readonly environment: LogEnvironment;

  constructor(environment: LogEnvironment) {
    this.environment = environment;
  }

  last(): StoredBatch | undefined {
    return this.#first({ reverse: true });
  }

  at(seq: number): StoredBatch | undefined {
    return this.#first({ reverse: true, start: keyOfSeq(seq) });
  }

  from(firstSeq: number, limit: number, maxBytes: number): StoredBatch[] {
    const batches: StoredBatch[] = [];
    this.lend(firstSeq, limit, maxBytes, (batch) => batches.push(copyOf(batch)));
    return batches;
  }

  lend(firstSeq: number, limit: number, maxBytes: number, take: (batch: StoredBatch) => void): number {
    const { log } = this.environment;
    return this.reading(() => {
      let lent = 0;
      let bytes = 0;
      for (const key of log.getKeys({ start: keyOfSeq(firstSeq), limit })) {
        const batch = this.#lent(key);
        take(batch);
        lent++;
        bytes += batch.bytes.length;
        if (bytes >= maxBytes) break;
      }
      return lent;
    });
  }

  /** The newest owner's epoch; 0 where there never was one. */
  ownerEpoch(): number {
    return this.reading(() => Math.floor(this.environment.meta.getEntry(OWNER_KEY)?.version ?? 0));
  }

  /**
   * Counts the batches, each step in one short read transaction, and yields that no record is verified yet, of how many. Throws
   * `DamagedError` where the log does not hold as many as it counts: a page that leads to some of them is damaged.
   */
  *checkCount(): Generator<[done: number, total: number]> {
    const { log, path } = this.environment;
    // Batches come after the last one only, and none ever goes: up to it they stay as many.
    const { counted, end } = this.reading(() => {
      const { entryCount } = log.getStats() as { readonly entryCount: number };
      return { counted: entryCount, end: [...log.getKeys({ reverse: true, limit: 1 })][0] };
    });
    let found = 0;
    for (let start: Uint8Array = FIRST_KEY; end !== undefined; ) {
      // Not `getKeysCount`, which tells the number that the log counts without a look at a page.
      const range = { start, exclusiveStart: true, end, inclusiveEnd: true, limit: limits.catchUpBatches };
      const keys = this.reading(() => [...log.getKeys(range)]);
      const last = keys.at(-1);
      if (last === undefined) break;
      if (Buffer.compare(last, start) <= 0) throw misplaced(path, last);
      found += keys.length;
      start = last;
      yield [0, seqOfKey(end)];
    }
    if (found === counted) return;
    throw new DamagedError(`${dataFileOf(path)}: the log counts ${counted} batches, and ${found} are there`);
  }

  async close(): Promise<void> {
    await this.environment.root.close();
  }

  /** One short read transaction: the reset lets the next call see newer commits and leaves no page pinned. */
  protected reading<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw namedDamage(error, this.environment.path);
    } finally {
      this.environment.root.resetReadTxn();
    }
  }

  #first(range: { readonly reverse: true; readonly start?: Buffer }): StoredBatch | undefined {
    return this.reading(() => {
      const [key] = [...this.environment.log.getKeys({ ...range, limit: 1 })];
      return key === undefined ? undefined : copyOf(this.#lent(key));
    });
  }

  /** What the next read overwrites. A key that stands where its order does not put it is met in passing, and not found. */
  #lent(key: Uint8Array): StoredBatch {
    const firstSeq = seqOfKey(key);
    const { log, path } = this.environment;
    const framed = log.getBinaryFast(key);
    if (framed === undefined) throw misplaced(path, key);
    return { firstSeq, bytes: unframe(framed, firstSeq) };
  }
}

function misplaced(path: string, key: Uint8Array): DamagedError {
  return new DamagedError(`${dataFileOf(path)}: the key of a batch at ${seqOfKey(key)} is misplaced`);
}

function copyOf({ firstSeq, bytes }: StoredBatch): StoredBatch {
  return { firstSeq, bytes: new Uint8Array(bytes) };
}

export interface LogOwnership {
  readonly epoch: number;
  /** Of the owner's record, and no other claim's. */
  readonly version: number;
  /** Stops the heartbeat; called once, before the environment closes. Resolves when nothing writes any more. */
  stop(): Promise<void>;
  /** Marks the folder free for the next owner, where it is still this one's. */
  release(): Promise<void>;
  /** Has another process open the log: LMDB knows its newest commit again then. */
  showNewest(): Promise<void>;
}

/** Made by `claimFolder` only: it is what makes an epoch one's own. */
export class LmdbLogWriter extends LmdbLogReader implements LogWriter {
  readonly epoch: number;
  readonly #ownership: LogOwnership;
  readonly #pageBytes: number;
  #lastSeq: number;

  constructor(environment: LogEnvironment, ownership: LogOwnership) {
    super(environment);
    this.epoch = ownership.epoch;
    this.#ownership = ownership;
    this.#pageBytes = pageCountsOf(environment).pageBytes;
    this.#lastSeq = this.last()?.firstSeq ?? -1;
  }

  async append(batch: StoredBatch | null, rewrites: readonly StoredBatch[]): Promise<void> {
    if (batch !== null && batch.firstSeq <= this.#lastSeq) {
      throw new Error(`a batch at ${batch.firstSeq} cannot follow the one at ${this.#lastSeq}`);
    }
    const { log, moved } = this.environment;
    const write = () => {
      const replacements = this.reading(() => rewrites.map((rewrite) => this.#replacementOf(rewrite)));
      for (const { key, framed, movesOut } of replacements) {
        log.put(key, framed);
        if (movesOut) moved.put(key, MOVED);
      }
      // Appending leaves leaf pages full and moves no node from one page to another.
      return batch === null ? Promise.resolve(true) : appendValue(log, keyOfSeq(batch.firstSeq), frame(batch.bytes));
    };
    await this.#commit(write, rewrites.length > 0);
    if (batch !== null) this.#lastSeq = batch.firstSeq;
  }

  /** Several new batches, in order, in one transaction. */
  async appendAll(batches: readonly StoredBatch[]): Promise<void> {
    const { log } = this.environment;
    await this.#commit(async () => {
      const added = batches.map(({ firstSeq, bytes }) => appendValue(log, keyOfSeq(firstSeq), frame(bytes)));
      return (await Promise.all(added)).every((isAdded) => isAdded);
    });
    this.#lastSeq = batches.at(-1)?.firstSeq ?? this.#lastSeq;
  }

  /** Pages of the log's file, for measuring. */
  pages(): PageCounts {
    return pageCountsOf(this.environment);
  }

  async scrub(signal?: AbortSignal): Promise<void> {
    const commit = (write: () => Promise<boolean>) => {
      refuseIfAborted(signal);
      return this.#commit(write);
    };
    await scrubFreePages(this.environment, commit, limits, signal);
  }

  /** Removes what an interrupted scrub of an earlier owner left. */
  async tidy(): Promise<void> {
    await removeScrubPages(this.environment, (write) => this.#commit(write));
  }

  /** Releases the folder: the next start need not ask whether this process lives. */
  override async close(): Promise<void> {
    await this.#ownership.stop();
    try {
      await this.#ownership.release();
    } finally {
      await super.close();
    }
  }

  /** Closes without a release, as a process that dies does. */
  async abandon(): Promise<void> {
    await this.#ownership.stop();
    await super.close();
  }

  #replacementOf(rewrite: StoredBatch): { key: Buffer; framed: Buffer; movesOut: boolean } {
    const key = keyOfSeq(rewrite.firstSeq);
    const stored = this.environment.log.getBinaryFast(key);
    if (stored === undefined) throw new Error(`there is no batch at ${rewrite.firstSeq} to replace`);
    const { storedBytes, movesOut } = replacementOf(rewrite.bytes.length, stored.length, this.#pageBytes);
    return { key, framed: frame(rewrite.bytes, storedBytes), movesOut };
  }

  /**
   * Commits what `write` puts, all or nothing, on condition that this owner still owns the folder, and that the newest batch is there. LMDB
   * keeps the number of the newest commit in memory that all processes share, and each process that opens the log writes there what it read a
   * moment before: the next commit would take the place of one that was acknowledged. Another open brings the number back, and `write` is
   * called again. Where the number is older still, LMDB fails. What `write` itself `reads` is that of the newest commit.
   */
  async #commit(write: () => Promise<boolean>, reads = true): Promise<void> {
    const tried = () => (reads && !this.#seesNewest() ? false : this.#commitNext(write));
    for (let tries = 1; !(await tried()); tries += 1) {
      const { path } = this.environment;
      if (tries === TRIES) throw new Error(`${dataFileOf(path)}: processes that open it hide its newest commit`);
      await this.#ownership.showNewest();
    }
  }

  /** A look by the key copies the batch, but up to some 100 KB of it take less time than a walk that does not (22 us against 35). */
  #seesNewest(): boolean {
    const newest = this.#lastSeq;
    return newest < 0 || this.reading(() => this.environment.log.doesExist(keyOfSeq(newest)));
  }

  /** False where the newest commit is hidden: nothing was written then. */
  async #commitNext(write: () => Promise<boolean>): Promise<boolean> {
    const { log, meta, path } = this.environment;
    let followed: Promise<boolean> = Promise.resolve(true);
    let written: Promise<boolean> = Promise.resolve(true);
    const putAll = () => {
      written = write();
    };
    const held = meta.ifVersion(OWNER_KEY, this.#ownership.version, () => {
      if (this.#lastSeq < 0) putAll();
      else followed = log.ifVersion(keyOfSeq(this.#lastSeq), IF_EXISTS, putAll);
    });
    const all = Promise.all([held, followed, written, startWriting(this.environment)]);
    const [isOwner, isNext, isWritten] = await all.catch(unknownOutcome(path));
    if (!isOwner) throw new OwnerLostError(`another process owns ${path} now`);
    if (isNext && !isWritten) throw new Error('the log refused a batch that is not its newest');
    return isNext;
  }
}

/** `put` takes these options, though its declaration knows them for `putSync` only. Resolves false for a key not past all. */
function appendValue(database: LogEnvironment['log'], key: Uint8Array, value: Uint8Array): Promise<boolean> {
  return database.put(key, value, { append: true } as unknown as number);
}
