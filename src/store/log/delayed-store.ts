/** Stores several batches of the shared log in one commit, which costs a disk as much as an append to etcd does. */
import type { Timers } from '../../group/ports/clock.js';
import type { LogWriter, StoredBatch } from '../../group/ports/log.js';
import { limits } from '../../limits.js';
import type { LmdbLogWriter } from './lmdb-log-writer.js';

export type OwnLog = LogWriter & Pick<LmdbLogWriter, 'appendAll' | 'newestFirstSeq'>;

export class DelayedStore {
  readonly #onFailure: (error: unknown) => void;
  /** Batches that no commit has begun to store. */
  #waiting: StoredBatch[] = [];
  #bytes = 0;
  /** First record of the commit that is in progress or has failed; null if there is none. */
  #committing: number | null = null;
  #running: Promise<void> | null = null;
  #cancel: (() => void) | null = null;
  #error: unknown = null;

  /** `onFailure` is called once if a commit fails. No further commit begins before `reset`. */
  constructor(
    private readonly local: OwnLog,
    private readonly timers: Pick<Timers, 'later'>,
    onFailure: (error: unknown) => void,
  ) {
    this.#onFailure = onFailure;
  }

  /** First record of the batches that are not stored yet; null if there is none. */
  get from(): number | null {
    return this.#committing ?? this.#waiting[0]?.firstSeq ?? null;
  }

  get error(): unknown {
    return this.#error;
  }

  /** Takes the next batch. Resolves once there is room for another one. Rejects if a commit has failed. */
  async add(batch: StoredBatch): Promise<void> {
    if (this.#error !== null) throw this.#error;
    this.#waiting.push(batch);
    this.#bytes += batch.bytes.length;
    this.#plan();
    if (this.#bytes >= limits.storeWaitingBytes) await this.stored();
  }

  /** Stores a batch at once, and replaces earlier ones with it. Rejects if that or an earlier commit fails. */
  async replace(batch: StoredBatch, rewrites: readonly StoredBatch[]): Promise<void> {
    await this.stored();
    this.#committing = batch.firstSeq;
    this.#running = this.#commit(() => this.local.append(batch, rewrites));
    await this.stored();
  }

  /** Resolves once every batch that was added before the call is stored. Rejects if a commit failed. */
  async stored(): Promise<void> {
    const upTo = this.#waiting.at(-1)?.firstSeq ?? this.#committing ?? 0;
    while ((this.from ?? Number.POSITIVE_INFINITY) <= upTo && this.#error === null) {
      this.#begin();
      await this.#running;
    }
    if (this.#error !== null) throw this.#error;
  }

  /** Forgets a failure, with the batches that were not stored. */
  reset(): void {
    this.#stopTimer();
    this.#waiting = [];
    this.#bytes = 0;
    this.#committing = null;
    this.#error = null;
  }

  #plan(): void {
    if (this.#running === null) this.#cancel ??= this.timers.later(() => this.#begin(), limits.storeDelayMs);
  }

  #stopTimer(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  /** Begins a commit of all waiting batches, unless one is in progress. */
  #begin(): void {
    this.#stopTimer();
    if (this.#running !== null || this.#waiting.length === 0 || this.#error !== null) return;
    const batches = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    this.#committing = batches[0]!.firstSeq;
    this.#running = this.#commit(() => this.local.appendAll(batches));
  }

  async #commit(write: () => Promise<void>): Promise<void> {
    try {
      await write();
      this.#committing = null;
    } catch (error) {
      this.#error = error;
      this.#onFailure(error);
    } finally {
      this.#running = null;
    }
    if (this.#waiting.length > 0) this.#plan();
  }
}
