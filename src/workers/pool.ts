/**
 * The pools behind a group: one replica, and readers beside it, so that a listing never waits for a snapshot. Both are Piscina
 * pools with bounded queues; a worker that dies is replaced, and its task rejects.
 */
import { Piscina } from 'piscina';
import type { LogRecord } from '../core/records.js';
import type { RedactionWork } from '../group/actor.js';
import type { VerifyReport } from '../group/api.js';
import type { Listing, ListingQuery } from '../group/listing.js';
import { type GroupPool, PoolBusyError, type SnapshotMade } from '../group/ports.js';
import type { RedactionPiece } from '../group/redaction.js';
import { limits } from '../limits.js';
import { verifyInChild } from './verification.js';

/** What a worker needs to open the folder. The salt stays in memory. */
export interface WorkerFolder {
  readonly dir: string;
  readonly salt: Uint8Array;
}

export class PiscinaPool implements GroupPool {
  readonly #dir: string;
  readonly #replica: Piscina;
  readonly #readers: Piscina;

  constructor(folder: WorkerFolder) {
    this.#dir = folder.dir;
    this.#replica = poolOf('./replica.js', folder, 1, limits.replicaQueueMax);
    this.#readers = poolOf('./reader.js', folder, limits.readerThreads, limits.readersQueueMax);
  }

  snapshot(upTo: number, epoch: number): Promise<SnapshotMade> {
    return run(this.#replica, 'snapshot', { upTo, epoch });
  }

  redact(work: RedactionWork): Promise<RedactionPiece> {
    return run(this.#replica, 'redact', work);
  }

  list(query: ListingQuery): Promise<Listing | null> {
    return run(this.#readers, 'list', query);
  }

  records(seqs: readonly number[]): Promise<readonly { readonly record: LogRecord; readonly at: number }[]> {
    return run(this.#readers, 'records', seqs);
  }

  verify(): Promise<VerifyReport> {
    return verifyInChild(this.#dir, 'full');
  }

  async close(): Promise<void> {
    await Promise.all([this.#replica.destroy(), this.#readers.destroy()]);
  }
}

function poolOf(file: string, folder: WorkerFolder, threads: number, maxQueue: number): Piscina {
  return new Piscina({
    filename: new URL(file, import.meta.url).href,
    workerData: folder,
    minThreads: threads,
    maxThreads: threads,
    maxQueue,
    idleTimeout: Number.POSITIVE_INFINITY,
    concurrentTasksPerWorker: 1,
  });
}

async function run<R>(pool: Piscina, name: string, task: unknown): Promise<R> {
  try {
    return (await pool.run(task, { name })) as R;
  } catch (error) {
    const isFull = error instanceof Error && /queue/i.test(error.message) && pool.queueSize >= pool.options.maxQueue;
    throw isFull ? new PoolBusyError(`the ${name} queue is full`) : error;
  }
}
