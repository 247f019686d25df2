/** The append log in LMDB, for readers of every thread; its one writer is `lmdb-log-writer.ts`. */
import { join } from 'node:path';
import { ABORT } from 'lmdb';
import type { LogReader, StoredBatch } from '../../group/ports/log.js';
import { DamagedError } from '../../group/ports/storage-errors.js';
import { limits } from '../../limits.js';
import { checkEnvironmentFile, dataFileOf } from '../files/environment-file.js';
import {
  keyOfSeq,
  type LogEnvironment,
  namedDamage,
  OWNER_KEY,
  openLogEnvironment,
  seqOfKey,
  unframe,
} from './log-environment.js';

/** Below that of every batch: records count from 1. */
const FIRST_KEY = keyOfSeq(0);
/** Values of two pages each: enough for LMDB to take pages that are free. */
const WRITES_TRIED = 8;
const TRIED_BYTES = 5_000;

/** Folder of the log's LMDB environment in a data folder. */
export function logFolderOf(dataDir: string): string {
  return join(dataDir, 'log');
}

/**
 * Opens the log of a data folder for reading. Throws `DamagedError` where there is none or its file is cut. `alone`:
 * nothing else of this process has it open, and nothing in it may change, not even by LMDB's own hand.
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
 * Begins to write to the log of a data folder, which holds one, and takes it back: nothing is changed. LMDB looks at
 * its list of free pages only then, and may end the process where that is damaged: so it is tried in one that may end.
 * Rejects with `DamagedError` for damage that LMDB tells.
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
    this.borrow(firstSeq, limit, maxBytes, (batch) => batches.push(copyOf(batch)));
    return batches;
  }

  borrow(firstSeq: number, limit: number, maxBytes: number, take: (batch: StoredBatch) => void): number {
    const { log } = this.environment;
    return this.reading(() => {
      let borrowed = 0;
      let bytes = 0;
      for (const key of log.getKeys({ start: keyOfSeq(firstSeq), limit })) {
        const batch = this.#borrowed(key);
        take(batch);
        borrowed++;
        bytes += batch.bytes.length;
        if (bytes >= maxBytes) break;
      }
      return borrowed;
    });
  }

  /** The newest owner's epoch; 0 where there never was one. */
  ownerEpoch(): number {
    // Earlier builds add a fraction to the version.
    return Math.floor(this.reading(() => this.environment.meta.getEntry(OWNER_KEY)?.version) ?? 0);
  }

  /**
   * Counts the batches, each step in one short read transaction, and yields that no record is verified yet, of how
   * many. Throws `DamagedError` where the log does not hold as many as it counts: a page that leads to some of them is
   * damaged.
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
      return key === undefined ? undefined : copyOf(this.#borrowed(key));
    });
  }

  /**
   * What the next read overwrites. A key that stands where its order does not put it is met in passing, and not found.
   */
  #borrowed(key: Uint8Array): StoredBatch {
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
