/** The real log of a folder, one of whose commits goes wrong in a way that a disk can make it go wrong. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { LogWriter, StoredBatch } from '../../src/group/ports/storage.js';
import type { LmdbLogWriter } from '../../src/store/log/lmdb-log.js';

/**
 * `refused`: nothing is written. `no space`: the same, as LMDB reports it. `torn`: the data pages are written, and the
 * meta page is not. `lost`: everything is written, and the answer is lost. `delayed`: everything is written, late.
 * `none`: every commit goes well.
 */
export const commitFaults = ['refused', 'no space', 'torn', 'lost', 'delayed'] as const;
export type CommitFault = (typeof commitFaults)[number] | 'none';

const META_PAGES_BYTES = 2 * 4_096;

export class FaultyLog implements LogWriter {
  readonly epoch: number;
  readonly storingFrom = null;
  readonly #inner: LmdbLogWriter;
  readonly #file: string;
  readonly #fault: CommitFault;
  readonly #at: number;
  #commits = 0;
  #metaPages: Buffer | null = null;
  #release: () => void = () => undefined;
  #scrubs = 0;
  /** `performance.now()` of the fault, which of one that is told late is when it is told; null before it. */
  faultAt: number | null = null;
  /**
   * The fault that occurred: a scrub is many commits, so that no commit beside or within one can be torn, and the
   * answer is lost instead.
   */
  happened: CommitFault = 'none';

  /** The commit (or scrub) number `at` of the log in the data folder `dir` goes wrong, counted from 0. */
  constructor(inner: LmdbLogWriter, dir: string, fault: CommitFault, at: number) {
    this.epoch = inner.epoch;
    this.#inner = inner;
    this.#file = join(dir, 'log', 'data.mdb');
    this.#fault = fault;
    this.#at = at;
  }

  get commits(): number {
    return this.#commits;
  }

  /** Lets a delayed commit go on. */
  release(): void {
    this.#release();
  }

  append(batch: StoredBatch | null, rewrites: readonly StoredBatch[]): Promise<void> {
    return this.#commit(() => this.#inner.append(batch, rewrites));
  }

  stored(): Promise<void> {
    return Promise.resolve();
  }

  async scrub(signal?: AbortSignal): Promise<void> {
    this.#scrubs += 1;
    try {
      await this.#commit(() => this.#inner.scrub(signal));
    } finally {
      this.#scrubs -= 1;
    }
  }

  last = (): StoredBatch | undefined => this.#inner.last();
  at = (seq: number): StoredBatch | undefined => this.#inner.at(seq);
  from = (firstSeq: number, limit: number, maxBytes: number): StoredBatch[] =>
    this.#inner.from(firstSeq, limit, maxBytes);
  borrow = (firstSeq: number, limit: number, maxBytes: number, take: (batch: StoredBatch) => void): number =>
    this.#inner.borrow(firstSeq, limit, maxBytes, take);

  /** Closes as a process that dies does. A torn commit loses its meta page only now that nothing maps the file. */
  async close(): Promise<void> {
    await this.#inner.abandon();
    if (this.#metaPages === null) return;
    const descriptor = openSync(this.#file, 'r+');
    writeSync(descriptor, this.#metaPages, 0, META_PAGES_BYTES, 0);
    closeSync(descriptor);
  }

  async #commit(commit: () => Promise<void>): Promise<void> {
    const isFaulty = this.#commits === this.#at;
    this.#commits += 1;
    if (!isFaulty || this.#fault === 'none') return commit();
    this.faultAt = performance.now();
    this.happened = this.#fault === 'torn' && this.#scrubs > 0 ? 'lost' : this.#fault;
    switch (this.happened) {
      case 'refused':
        throw new Error('the commit is refused');
      case 'no space':
        // LMDB says EIO of a disk that is full.
        throw Object.assign(new Error('a commit failed and its outcome is not known'), { cause: new Error('EIO') });
      case 'torn':
        this.#metaPages = Buffer.alloc(META_PAGES_BYTES);
        this.#readMetaPages(this.#metaPages);
        await commit();
        this.faultAt = performance.now();
        throw new Error('the machine loses power amid the commit');
      case 'lost':
        await commit();
        this.faultAt = performance.now();
        throw new Error('the answer to the commit is lost');
      case 'delayed':
        await new Promise<void>((resolve) => {
          this.#release = resolve;
        });
        return commit();
    }
  }

  #readMetaPages(into: Buffer): void {
    const descriptor = openSync(this.#file, 'r');
    readSync(descriptor, into, 0, META_PAGES_BYTES, 0);
    closeSync(descriptor);
  }
}
