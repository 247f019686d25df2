/** The append log in LMDB: any thread reads it, and one process writes it. */
import { join } from 'node:path';
import { ABORT, IF_EXISTS } from 'lmdb';
import {
  DamagedError,
  type LogReader,
  type LogWriter,
  OwnerLostError,
  type StoredBatch,
} from '../../group/ports/storage.js';
import { limits } from '../../limits.js';
import { checkEnvironmentFile, dataFileOf } from '../files/lmdb-file.js';
import * as environments from './log-environment.js';
import { deferIfFull, refuseIfAborted, removeScrubPages, scrubFreePages } from './scrub.js';

/** A key below that of every batch, because records count from 1. */
const FIRST_KEY = environments.keyOfSeq(0);
/** Values of two pages each: enough writes for LMDB to use free pages. */
const WRITES_TRIED = 8;
const TRIED_BYTES = 5_000;

export function logFolderOf(dataDir: string): string {
  return join(dataDir, 'log');
}

/** Throws `DamagedError`. `alone`: nothing else in this process has it open. `readMs`: a longer read returns less. */
export function openLogReader(dataDir: string, { alone = false, readMs = Number.POSITIVE_INFINITY } = {}) {
  const folder = logFolderOf(dataDir);
  checkEnvironmentFile(dataFileOf(folder));
  try {
    return new LmdbLogReader(environments.openLogEnvironment(folder, { readOnly: alone }), readMs);
  } catch (error) {
    throw environments.namedDamage(error, folder);
  }
}

/** Aborts a write, for which alone LMDB reads its list of free pages. A damaged list may end the process. */
export async function tryWriting(dataDir: string): Promise<void> {
  const folder = logFolderOf(dataDir);
  const { root, log } = environments.openLogEnvironment(folder);
  try {
    root.transactionSync(() => {
      for (let tried = 0; tried < WRITES_TRIED; tried++)
        log.putSync(environments.keyOfSeq(tried), Buffer.alloc(TRIED_BYTES));
      return ABORT;
    });
  } catch (error) {
    throw environments.namedDamage(error, folder);
  } finally {
    await root.close();
  }
}

export class LmdbLogReader implements LogReader {
  constructor(
    protected readonly environment: environments.LogEnvironment,
    private readonly readMs = Number.POSITIVE_INFINITY,
  ) {}

  last(): StoredBatch | undefined {
    return this.#first({ reverse: true });
  }

  at(seq: number): StoredBatch | undefined {
    return this.#first({ reverse: true, start: environments.keyOfSeq(seq) });
  }

  from(firstSeq: number, limit: number, maxBytes: number): StoredBatch[] {
    const batches: StoredBatch[] = [];
    this.borrow(firstSeq, limit, maxBytes, (batch) => batches.push(copyOf(batch)));
    return batches;
  }

  borrow(firstSeq: number, limit: number, maxBytes: number, take: (batch: StoredBatch) => void): number {
    const { log } = this.environment;
    const endMs = performance.now() + this.readMs;
    return this.reading(() => {
      let borrowed = 0;
      let bytes = 0;
      for (const key of log.getKeys({ start: environments.keyOfSeq(firstSeq), limit })) {
        const batch = this.#borrowed(key);
        take(batch);
        borrowed++;
        bytes += batch.bytes.length;
        if (bytes >= maxBytes || performance.now() > endMs) break;
      }
      return borrowed;
    });
  }

  ownerEpoch(): number {
    return this.reading(() => this.environment.meta.getEntry(environments.OWNER_KEY)?.version) ?? 0;
  }

  /** Yields [0, total]. Throws `DamagedError` if LMDB counts more: a page that leads to some batches is damaged. */
  *checkCount(): Generator<[done: number, total: number]> {
    const { log, path } = this.environment;
    // Batches are only appended and never removed, so the number up to the last one is constant.
    const { counted, end } = this.reading(() => {
      const { entryCount } = log.getStats() as { readonly entryCount: number };
      return { counted: entryCount, end: [...log.getKeys({ reverse: true, limit: 1 })][0] };
    });
    let found = 0;
    for (let start: Uint8Array = FIRST_KEY; end !== undefined; ) {
      // `getKeysCount` would return the stored count without reading a page.
      const range = { start, exclusiveStart: true, end, inclusiveEnd: true, limit: limits.catchUpBatches };
      const keys = this.reading(() => [...log.getKeys(range)]);
      const last = keys.at(-1);
      if (last === undefined) break;
      if (Buffer.compare(last, start) <= 0) throw misplaced(path, last);
      found += keys.length;
      start = last;
      yield [0, environments.seqOfKey(end)];
    }
    if (found === counted) return;
    throw new DamagedError(`${dataFileOf(path)}: the log counts ${counted} batches, and ${found} are there`);
  }

  async close(): Promise<void> {
    await this.environment.root.close();
  }

  /** Runs one short read transaction. The reset lets the next call see newer commits and leaves no page pinned. */
  protected reading<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw environments.namedDamage(error, this.environment.path);
    } finally {
      this.environment.root.resetReadTxn();
    }
  }

  #first(range: { readonly reverse: true; readonly start?: Buffer }): StoredBatch | undefined {
    return this.reading(() => {
      const [key] = [...this.environment.log.getKeys({ ...range, limit: 1 })];
      return key === undefined ? undefined : copyOf(this.#borrowed(key));
    });
  }

  /** A borrowed view until the next read. A walk sees a key that is out of order, but a lookup does not. */
  #borrowed(key: Uint8Array): StoredBatch {
    const firstSeq = environments.seqOfKey(key);
    const { log, path } = this.environment;
    const framed = log.getBinaryFast(key);
    if (framed === undefined) throw misplaced(path, key);
    return { firstSeq, bytes: environments.unframe(framed, firstSeq) };
  }
}

function misplaced(path: string, key: Uint8Array): DamagedError {
  return new DamagedError(`${dataFileOf(path)}: the key of a batch at ${environments.seqOfKey(key)} is misplaced`);
}

function copyOf({ firstSeq, bytes }: StoredBatch): StoredBatch {
  return { firstSeq, bytes: new Uint8Array(bytes) };
}

const MOVED = Buffer.from([1]);

interface LogOwnership {
  /** Stops the heartbeat. Resolves when nothing writes any more. */
  stop(): Promise<void>;
  /** Stops, and marks the folder free for the next owner, if this process still owns it. */
  release(): Promise<void>;
}

/** Each commit of the single writer succeeds only while its epoch, which `OwnedFolder` wrote before, is the newest. */
export class LmdbLogWriter extends LmdbLogReader implements LogWriter {
  readonly #pageBytes: number;
  newestFirstSeq: number;
  readonly storingFrom = null;

  /** `epoch`: the version of the owner's record in the log, on which every commit depends. */
  constructor(
    environment: environments.LogEnvironment,
    readonly epoch: number,
    private readonly ownership: LogOwnership,
  ) {
    super(environment);
    this.#pageBytes = environments.pageCountsOf(environment).pageBytes;
    const [newest] = this.reading(() => [...environment.log.getKeys({ reverse: true, limit: 1 })]);
    this.newestFirstSeq = newest === undefined ? -1 : environments.seqOfKey(newest);
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
      return batch === null
        ? Promise.resolve(true)
        : appendValue(log, environments.keyOfSeq(batch.firstSeq), environments.frame(batch.bytes));
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
      const added = batches.map(({ firstSeq, bytes }) =>
        appendValue(log, environments.keyOfSeq(firstSeq), environments.frame(bytes)),
      );
      return (await Promise.all(added)).every((isAdded) => isAdded);
    });
    this.newestFirstSeq = batches.at(-1)?.firstSeq ?? this.newestFirstSeq;
  }

  pages(): ReturnType<typeof environments.pageCountsOf> {
    return environments.pageCountsOf(this.environment);
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
    await super.close().finally(() => this.ownership.release());
  }

  /** Closes without a release, as a process that dies does. */
  async abandon(): Promise<void> {
    await this.ownership.stop();
    await super.close();
  }

  #replacementOf(rewrite: StoredBatch): { key: Buffer; framed: Buffer; movesOut: boolean } {
    const key = environments.keyOfSeq(rewrite.firstSeq);
    const stored = this.environment.log.getBinaryFast(key);
    if (stored === undefined) throw new Error(`cannot replace the batch at ${rewrite.firstSeq}: it does not exist`);
    const { storedBytes, movesOut } = environments.replacementOf(rewrite.bytes.length, stored.length, this.#pageBytes);
    return { key, framed: environments.frame(rewrite.bytes, storedBytes), movesOut };
  }

  /**
   * Commits the writes of `write`, all or nothing, on condition that this owner still owns the folder and that the
   * newest batch is visible; rejects with `HiddenCommitError` if it is not. With `reads`, `write` reads the newest
   * commit.
   */
  async #commit(write: () => Promise<boolean>, reads = true): Promise<void> {
    if (reads && !this.#seesNewest()) throw new environments.HiddenCommitError(this.environment.path);
    const { root, log, meta, path } = this.environment;
    let followed: Promise<boolean> = Promise.resolve(true);
    let written: Promise<boolean> = Promise.resolve(true);
    const putAll = () => {
      written = write();
    };
    const held = meta.ifVersion(environments.OWNER_KEY, this.epoch, () => {
      if (this.newestFirstSeq < 0) putAll();
      else followed = log.ifVersion(environments.keyOfSeq(this.newestFirstSeq), IF_EXISTS, putAll);
    });
    // Begins with this turn's writes at once, not after a next turn, in which hundreds of requests may be read.
    const begun = root.batch(() => undefined);
    const all = Promise.all([held, followed, written, begun]);
    const [isOwner, isNext, isWritten] = await all.catch(environments.unknownOutcome(path));
    if (!isOwner) throw new OwnerLostError(`another process owns ${path} now`);
    if (!isNext) throw new environments.HiddenCommitError(path);
    if (!isWritten) throw new Error('the log refused a batch that is not its newest');
  }

  /** A read by key copies the batch, but up to 100 KB takes less time than a walk without one (22 us against 35). */
  #seesNewest(): boolean {
    const newest = this.newestFirstSeq;
    return newest < 0 || this.reading(() => this.environment.log.doesExist(environments.keyOfSeq(newest)));
  }
}

/** `put` accepts these options, although declared for `putSync` only. False for a key that is not behind all others. */
function appendValue(
  database: environments.LogEnvironment['log'],
  key: Uint8Array,
  value: Uint8Array,
): Promise<boolean> {
  return database.put(key, value, { append: true } as unknown as number);
}
