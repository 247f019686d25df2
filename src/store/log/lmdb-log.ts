/** Reads the append log in LMDB, in any thread. Its single writer is `lmdb-log-writer.ts`. */
import { join } from 'node:path';
import { ABORT } from 'lmdb';
import type { LogReader, StoredBatch } from '../../group/ports/log.js';
import { DamagedError } from '../../group/ports/storage-errors.js';
import { limits } from '../../limits.js';
import { checkEnvironmentFile, dataFileOf } from '../files/lmdb-file.js';
import {
  keyOfSeq,
  type LogEnvironment,
  namedDamage,
  OWNER_KEY,
  openLogEnvironment,
  seqOfKey,
  unframe,
} from './log-environment.js';

/** A key below that of every batch, because records count from 1. */
const FIRST_KEY = keyOfSeq(0);
/** Values of two pages each: enough writes for LMDB to use free pages. */
const WRITES_TRIED = 8;
const TRIED_BYTES = 5_000;

export function logFolderOf(dataDir: string): string {
  return join(dataDir, 'log');
}

/** Throws `DamagedError`. `alone`: nothing else in this process has the log open, and nothing in it may change. */
export function openLogReader(dataDir: string, { alone = false } = {}): LmdbLogReader {
  const folder = logFolderOf(dataDir);
  checkEnvironmentFile(dataFileOf(folder));
  try {
    return new LmdbLogReader(openLogEnvironment(folder, { readOnly: alone }));
  } catch (error) {
    throw namedDamage(error, folder);
  }
}

/** Aborts a write, for which alone LMDB reads its list of free pages. A damaged list may end the process. */
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
  constructor(protected readonly environment: LogEnvironment) {}

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

  ownerEpoch(): number {
    return this.reading(() => this.environment.meta.getEntry(OWNER_KEY)?.version) ?? 0;
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
      yield [0, seqOfKey(end)];
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

  /** A borrowed view until the next read. A walk sees a key that is out of order, but a lookup does not. */
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
