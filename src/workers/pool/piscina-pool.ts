/**
 * Implements the worker pools of a node: one replica of its group, separate readers, so that a listing never waits for
 * a snapshot, and one for signatures. All have bounded queues. A dead worker is replaced, and its task rejects.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { Simulation } from '../../core/scoring/simulation.js';
import type { OnProgress } from '../../group/api.js';
import { type GroupPool, type Holder, PoolBusyError, type VerifySignatures } from '../../group/ports/pool.js';
import type { ScoringSettings } from '../../group/replica/replica.js';
import { limits } from '../../limits.js';
import { verifyInChild } from '../verify/verify-runner.js';
import { within } from '../within.js';
import { type ReadClass, ReadQueue } from './read-queue.js';

export interface WorkerFolder {
  readonly dir: string;
  readonly salt: Uint8Array;
  readonly scoring?: ScoringSettings;
}

export interface ReplicaFolder extends WorkerFolder {
  /** Shared memory: 1 once the worker is about to be terminated, which must not be during a write into LMDB. */
  readonly ending: Int32Array;
}

export interface ReaderFolder extends WorkerFolder {
  /** Shared memory for a piece of the log. A copy for each piece would make the garbage collector pause this thread. */
  readonly piece: SharedArrayBuffer;
}

const ownEntries = {
  replica: new URL('./replica-worker.js', import.meta.url),
  reader: new URL('./reader-worker.js', import.meta.url),
  signatures: new URL('./signature-worker.js', import.meta.url),
};

export class PiscinaPool implements GroupPool {
  readonly #dir: string;
  readonly #replica: LazyPool;
  readonly #readers: LazyPool;
  readonly #signatures: LazyPool;
  readonly #ending = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #piece = Buffer.from(new SharedArrayBuffer(limits.copyPieceBytes));
  #closed: Promise<void> | null = null;
  /** Resolves once the files, which the workers read, hold every applied batch. Set on a node of a cluster. */
  filesStored: (() => Promise<void>) | null = null;

  /** Tests pass other entries, whose workers fail. */
  constructor(
    folder: WorkerFolder,
    otherEntries: Partial<typeof ownEntries> = {},
    private readonly weightsTimeoutMs: number = limits.weightsTimeoutMs,
    private readonly reading = new ReadQueue(),
  ) {
    this.#dir = folder.dir;
    const entries = { ...ownEntries, ...otherEntries };
    const replicaFolder = { ...folder, ending: this.#ending };
    this.#replica = new LazyPool(() => poolOf(entries.replica, replicaFolder, 1, limits.replicaQueueMax));
    const readerFolder = { ...folder, piece: this.#piece.buffer };
    this.#readers = new LazyPool(() =>
      poolOf(entries.reader, readerFolder, limits.readerThreads, limits.readersQueueMax),
    );
    this.#signatures = new LazyPool(() => poolOf(entries.signatures, {}, 1, limits.signatureQueueMax));
  }

  // These name records that the files hold. An erasure in a cluster waits for some of them before the files hold what
  // follows: if they waited for the files, nothing would go on.
  readonly snapshot: GroupPool['snapshot'] = (upTo, epoch) => this.#replica.run('snapshot', { upTo, epoch });
  readonly follow: GroupPool['follow'] = (upTo) => this.#replica.run('follow', upTo);
  readonly publishChanges: GroupPool['publishChanges'] = (work) => this.#replica.run('publishChanges', work);
  readonly walkChanges: GroupPool['walkChanges'] = (work) => this.#replica.run('walkChanges', work);
  readonly endFeed: GroupPool['endFeed'] = () => this.#replica.run('endFeed', undefined);
  readonly retire: GroupPool['retire'] = (work) => this.#run('retire', work);
  readonly weights: GroupPool['weights'] = (upTo, at) =>
    this.#run('weights', { upTo, at }, { timeoutMs: this.weightsTimeoutMs });
  readonly verdicts: GroupPool['verdicts'] = (upTo, at) => this.#run('verdicts', { upTo, at });

  /** Bounded pieces, one at a time: it waits for the read in progress, and callers who read much cannot delay it. */
  readonly redact: GroupPool['redact'] = (work) => this.#run('redact', work, {}, this.#readers);

  readonly list: GroupPool['list'] = (query) =>
    this.#read(query.caller === null ? 'public' : 'own', query.holder, 'list', query);
  readonly pairEvents: GroupPool['pairEvents'] = (query) => this.#read('records', null, 'pairEvents', query);
  readonly records: GroupPool['records'] = (seqs, holder = null) => this.#read('records', holder, 'records', seqs);
  readonly chain: GroupPool['chain'] = (query) => this.#read('records', query.holder, 'chain', query);
  readonly repeats: GroupPool['repeats'] = (query) => this.#read('records', query.holder, 'repeats', query);

  readonly verify: GroupPool['verify'] = (onProgress) => verifyInChild(this.#dir, 'full', onProgress);
  readonly check: GroupPool['check'] = (onProgress, signal) =>
    verifyInChild(this.#dir, 'background', onProgress, signal);

  readonly verifySignatures: VerifySignatures = (batch) => this.#signatures.run('verifySignatures', batch);

  async simulate(work: Parameters<GroupPool['simulate']>[0], onProgress: OnProgress): Promise<Simulation> {
    const { port1: heard, port2: progress } = new MessageChannel();
    heard.on('message', ([done, total]: [number, number]) => onProgress(done, total));
    try {
      const simulation: Simulation = await this.#run('simulate', { work, progress }, { transferList: [progress] });
      // The result comes over another port, and may arrive first.
      for (let message = receiveMessageOnPort(heard); message !== undefined; message = receiveMessageOnPort(heard)) {
        const [done, total] = message.message as [number, number];
        onProgress(done, total);
      }
      return simulation;
    } finally {
      heard.close();
    }
  }

  async logPiece(query: Parameters<GroupPool['logPiece']>[0]): Promise<Uint8Array> {
    const piece = await this.#readFiles<number | Uint8Array>('own', null, 'logPiece', query);
    return typeof piece === 'number' ? this.#piece.subarray(0, piece) : piece;
  }

  async #read<R>(...read: [ReadClass, Holder | null, name: keyof GroupPool, task: unknown]): Promise<R> {
    if (this.filesStored !== null) await this.filesStored();
    return this.#readFiles(...read);
  }

  /** A read waits for the thread to load before it is queued, because that time is not spent behind other reads. */
  async #readFiles<R>(readClass: ReadClass, holder: Holder | null, name: keyof GroupPool, task: unknown): Promise<R> {
    await this.#readers.loaded();
    return this.reading.run(readClass, holder, () => this.#readers.run(name, task));
  }

  #run<R>(name: keyof GroupPool, task: unknown, options: RunOptions = {}, pool = this.#replica): Promise<R> {
    const start = () => pool.run<R>(name, task, options);
    return this.filesStored === null ? start() : this.filesStored().then(start);
  }

  /**
   * Gives a loading thread `loadMs` to finish, and `poolMs` to close its files; aborts a snapshot at once. Never
   * resolves if a thread cannot be terminated. May be called repeatedly.
   */
  close(loadMs: number = limits.shutdownLoadMs, poolMs: number = limits.shutdownPoolMs): Promise<void> {
    Atomics.store(this.#ending, 0, 1);
    this.reading.refuseAll();
    const pools = [this.#replica, this.#readers, this.#signatures];
    this.#closed ??= Promise.all(pools.map((pool) => pool.close(loadMs, poolMs))).then(() => undefined);
    return this.#closed;
  }
}

/** A pool whose threads start with its first task, so that an idle node spends no memory on them. */
class LazyPool {
  #pool: Piscina | null = null;
  /** Settled once every first worker has loaded, or has failed to. */
  #loaded: Promise<unknown> = Promise.resolve();
  readonly #deaths = new WeakMap<Piscina, Error>();
  #isClosed = false;

  constructor(private readonly make: () => Piscina) {}

  #start(): Piscina {
    if (this.#isClosed) throw new Error('the pool is closed');
    if (this.#pool === null) {
      const pool = this.make();
      pool.on('error', (error: Error) => this.#discardIfDead(pool, error));
      this.#pool = pool;
      this.#loaded = Promise.allSettled(onEach(pool, 'loaded'));
    }
    return this.#pool;
  }

  loaded(): Promise<unknown> {
    this.#start();
    return this.#loaded;
  }

  /** Runs a task. `name` is the function that the worker exports under the name of the port's method. */
  async run<R>(name: keyof PiscinaPool, task: unknown, { timeoutMs, transferList }: RunOptions = {}): Promise<R> {
    const pool = this.#start();
    try {
      const signal = timeoutMs === undefined ? null : AbortSignal.timeout(timeoutMs);
      return (await pool.run(task, { name, signal, ...(transferList === undefined ? {} : { transferList }) })) as R;
    } catch (error) {
      if (error instanceof Error) this.#discardIfDead(pool, error);
      const death = this.#deaths.get(pool);
      if (death !== undefined) throw new Error(`no worker is left for ${name}`, { cause: death });
      const isFull = error instanceof Error && /queue/i.test(error.message) && pool.queueSize >= pool.options.maxQueue;
      throw isFull ? new PoolBusyError(`the ${name} queue is full`) : error;
    }
  }

  async close(loadMs: number, poolMs: number): Promise<void> {
    this.#isClosed = true;
    const pool = this.#pool;
    if (pool === null) return;
    await within(loadMs, this.#loaded);
    // Workers close their files first: a thread that is terminated during a call into LMDB can end the process.
    await within(poolMs, Promise.allSettled(onEach(pool, 'close')));
    await pool.destroy();
  }

  /**
   * Piscina starts no other workers once one could not load, and the tasks would wait for ever. They reject, and the
   * next task starts a new pool.
   */
  #discardIfDead(pool: Piscina, error: Error): void {
    if (this.#pool !== pool || pool.threads.length > 0 || this.#isClosed) return;
    this.#deaths.set(pool, error);
    this.#pool = null;
    void pool.destroy();
  }
}

export function poolOf(entry: URL, workerData: object, threads: number, maxQueue: number): Piscina {
  const pool = new Piscina({
    filename: entry.href,
    workerData,
    minThreads: threads,
    maxThreads: threads,
    maxQueue,
    idleTimeout: Number.POSITIVE_INFINITY,
    concurrentTasksPerWorker: 1,
    // By default a worker sleeps in Atomics.wait between two tasks and never turns its event loop. The timers that
    // LMDB's binding sets at each renewed read would then never run, and would pile up.
    atomics: 'disabled',
  });
  // Errors here belong to no task: a worker died between two tasks and is replaced, or a task answered after it was
  // abandoned. Without a listener they would end the process.
  pool.on('error', () => undefined);
  return pool;
}

function onEach(pool: Piscina, name: 'loaded' | 'close'): Promise<unknown>[] {
  return Array.from(pool.threads, () => pool.run(undefined, { name }));
}

interface RunOptions {
  /** A task that takes longer is considered hung, and its worker is replaced. */
  readonly timeoutMs?: number;
  readonly transferList?: MessagePort[];
}
