/**
 * The one writer of the log in LMDB, each of whose commits holds only while its owner record stands. How an owner comes
 * to be is `owner.ts`; what erasing leaves behind is `scrub.ts`.
 */
import { IF_EXISTS } from 'lmdb';
import type { LogWriter, StoredBatch } from '../../group/ports/log.js';
import { OwnerLostError } from '../../group/ports/storage-errors.js';
import { limits } from '../../limits.js';
import { dataFileOf } from '../files/environment-file.js';
import { LmdbLogReader } from './lmdb-log.js';
import {
  frame,
  keyOfSeq,
  type LogEnvironment,
  newestSeqOf,
  OWNER_KEY,
  type PageCounts,
  pageCountsOf,
  replacementOf,
  startWriting,
  unknownOutcome,
} from './log-environment.js';
import { deferIfFull, refuseIfAborted, removeScrubPages, scrubFreePages } from './scrub.js';

/** Of a commit that does not meet the newest batch. */
const TRIES = 3;
const MOVED = Buffer.from([1]);

export interface LogOwnership {
  /** The version of the owner's record in the log, on which every commit depends. */
  readonly epoch: number;
  /** Ends the heartbeat. Resolves when nothing writes any more. */
  stop(): Promise<void>;
  /** Stops, and marks the folder free for the next owner, where it is still this one's. */
  release(): Promise<void>;
  /** Has another process open the log: LMDB knows its newest commit again then. */
  showNewest(): Promise<void>;
}

/** Made by `OwnedFolder` only, which makes the epoch its own. */
export class LmdbLogWriter extends LmdbLogReader implements LogWriter {
  readonly epoch: number;
  readonly #ownership: LogOwnership;
  readonly #pageBytes: number;
  #lastSeq: number;

  /** `close` closes the environment. */
  constructor(environment: LogEnvironment, ownership: LogOwnership) {
    super(environment);
    this.epoch = ownership.epoch;
    this.#ownership = ownership;
    this.#pageBytes = pageCountsOf(environment).pageBytes;
    this.#lastSeq = this.reading(() => newestSeqOf(environment.log));
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
      deferIfFull(this.environment.path);
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
    try {
      await super.close();
    } finally {
      await this.#ownership.release();
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
   * Commits what `write` puts, all or nothing, on condition that this owner still owns the folder, and that the newest
   * batch is there. LMDB keeps the number of the newest commit in memory that all processes share, and each process
   * that opens the log writes there what it read a moment before: the next commit would take the place of one that was
   * acknowledged. Another open brings the number back, and `write` is called again. Where the number is older still,
   * LMDB fails. What `write` itself `reads` is that of the newest commit.
   */
  async #commit(write: () => Promise<boolean>, reads = true): Promise<void> {
    const tried = () => (reads && !this.#seesNewest() ? false : this.#commitNext(write));
    for (let tries = 1; !(await tried()); tries += 1) {
      const { path } = this.environment;
      if (tries === TRIES) throw new Error(`${dataFileOf(path)}: processes that open it hide its newest commit`);
      await this.#ownership.showNewest();
    }
  }

  /**
   * A look by the key copies the batch, but up to some 100 KB of it take less time than a walk that does not (22 us
   * against 35).
   */
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
    const held = meta.ifVersion(OWNER_KEY, this.epoch, () => {
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

/**
 * `put` takes these options, though its declaration knows them for `putSync` only. Resolves false for a key not past
 * all.
 */
function appendValue(database: LogEnvironment['log'], key: Uint8Array, value: Uint8Array): Promise<boolean> {
  return database.put(key, value, { append: true } as unknown as number);
}
