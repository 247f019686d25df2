/** The single writer of the log in LMDB. Each commit succeeds only while this owner's record is the newest. */
import { IF_EXISTS } from 'lmdb';
import type { LogWriter, StoredBatch } from '../../group/ports/log.js';
import { OwnerLostError } from '../../group/ports/storage-errors.js';
import { limits } from '../../limits.js';
import { LmdbLogReader } from './lmdb-log.js';
import {
  frame,
  HiddenCommitError,
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

const MOVED = Buffer.from([1]);

export interface LogOwnership {
  /** The version of the owner's record in the log, on which every commit depends. */
  readonly epoch: number;
  /** Stops the heartbeat. Resolves when nothing writes any more. */
  stop(): Promise<void>;
  /** Stops, and marks the folder free for the next owner, if this process still owns it. */
  release(): Promise<void>;
}

/** Created only by `OwnedFolder`, which writes the epoch first. */
export class LmdbLogWriter extends LmdbLogReader implements LogWriter {
  readonly epoch: number;
  readonly #pageBytes: number;
  newestFirstSeq: number;

  /** `close` closes the environment. */
  constructor(
    environment: LogEnvironment,
    private readonly ownership: LogOwnership,
  ) {
    super(environment);
    this.epoch = ownership.epoch;
    this.#pageBytes = pageCountsOf(environment).pageBytes;
    this.newestFirstSeq = this.reading(() => newestSeqOf(environment.log));
  }

  async append(batch: StoredBatch | null, rewrites: readonly StoredBatch[]): Promise<void> {
    if (batch !== null && batch.firstSeq <= this.newestFirstSeq) {
      throw new Error(`a batch at ${batch.firstSeq} cannot follow the one at ${this.newestFirstSeq}`);
    }
    const { log, moved } = this.environment;
    const write = () => {
      const replacements = this.reading(() => rewrites.map((rewrite) => this.#replacementOf(rewrite)));
      for (const { key, framed, movesOut } of replacements) {
        log.put(key, framed);
        if (movesOut) moved.put(key, MOVED);
      }
      // Appending leaves leaf pages full and moves no node between pages.
      return batch === null ? Promise.resolve(true) : appendValue(log, keyOfSeq(batch.firstSeq), frame(batch.bytes));
    };
    await this.#commit(write, rewrites.length > 0);
    if (batch !== null) this.newestFirstSeq = batch.firstSeq;
  }

  stored(): Promise<void> {
    return Promise.resolve();
  }

  async appendAll(batches: readonly StoredBatch[]): Promise<void> {
    const { log } = this.environment;
    await this.#commit(async () => {
      const added = batches.map(({ firstSeq, bytes }) => appendValue(log, keyOfSeq(firstSeq), frame(bytes)));
      return (await Promise.all(added)).every((isAdded) => isAdded);
    });
    this.newestFirstSeq = batches.at(-1)?.firstSeq ?? this.newestFirstSeq;
  }

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

  /** Removes the remains of an earlier owner's interrupted scrub. */
  async tidy(): Promise<void> {
    await removeScrubPages(this.environment, (write) => this.#commit(write));
  }

  /** Releases the folder, so that the next start need not check whether this process is alive. */
  override async close(): Promise<void> {
    try {
      await super.close();
    } finally {
      await this.ownership.release();
    }
  }

  /** Closes without a release, as a process that dies does. */
  async abandon(): Promise<void> {
    await this.ownership.stop();
    await super.close();
  }

  #replacementOf(rewrite: StoredBatch): { key: Buffer; framed: Buffer; movesOut: boolean } {
    const key = keyOfSeq(rewrite.firstSeq);
    const stored = this.environment.log.getBinaryFast(key);
    if (stored === undefined) throw new Error(`cannot replace the batch at ${rewrite.firstSeq}: it does not exist`);
    const { storedBytes, movesOut } = replacementOf(rewrite.bytes.length, stored.length, this.#pageBytes);
    return { key, framed: frame(rewrite.bytes, storedBytes), movesOut };
  }

  /**
   * Commits the writes of `write`, all or nothing, on condition that this owner still owns the folder and that the
   * newest batch is visible; rejects with `HiddenCommitError` if it is not. With `reads`, `write` itself reads the
   * newest commit.
   */
  async #commit(write: () => Promise<boolean>, reads = true): Promise<void> {
    if (reads && !this.#seesNewest()) throw new HiddenCommitError(this.environment.path);
    const { log, meta, path } = this.environment;
    let followed: Promise<boolean> = Promise.resolve(true);
    let written: Promise<boolean> = Promise.resolve(true);
    const putAll = () => {
      written = write();
    };
    const held = meta.ifVersion(OWNER_KEY, this.epoch, () => {
      if (this.newestFirstSeq < 0) putAll();
      else followed = log.ifVersion(keyOfSeq(this.newestFirstSeq), IF_EXISTS, putAll);
    });
    const all = Promise.all([held, followed, written, startWriting(this.environment)]);
    const [isOwner, isNext, isWritten] = await all.catch(unknownOutcome(path));
    if (!isOwner) throw new OwnerLostError(`another process owns ${path} now`);
    if (!isNext) throw new HiddenCommitError(path);
    if (!isWritten) throw new Error('the log refused a batch that is not its newest');
  }

  /** A read by key copies the batch, but up to 100 KB takes less time than a walk without one (22 us against 35). */
  #seesNewest(): boolean {
    const newest = this.newestFirstSeq;
    return newest < 0 || this.reading(() => this.environment.log.doesExist(keyOfSeq(newest)));
  }
}

/** `put` accepts these options, although declared for `putSync` only. False for a key that is not behind all others. */
function appendValue(database: LogEnvironment['log'], key: Uint8Array, value: Uint8Array): Promise<boolean> {
  return database.put(key, value, { append: true } as unknown as number);
}
