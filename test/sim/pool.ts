/**
 * The pool of a simulated node: the replica and the reader of a real one, each a lane of its own, and failures on
 * demand.
 */

import type { PairRecord } from '../../src/core/records/pair-records.js';
import type { LogRecord } from '../../src/core/records/records.js';
import type { VerdictCounts } from '../../src/core/scoring/score.js';
import type { Simulation } from '../../src/core/scoring/simulation.js';
import type { OnProgress, VerifyReport } from '../../src/group/api.js';
import * as listing from '../../src/group/listing/listing.js';
import {
  type ChainQuery,
  type FeedPiece,
  type FeedWork,
  type GroupPool,
  type Listing,
  type ListingQuery,
  type PairEvents,
  type PairEventsQuery,
  PoolBusyError,
  type RemovalPiece,
  type RemovalWork,
  type RepeatQuery,
  type RepeatsPiece,
  type RetentionPiece,
  type RetentionWork,
  type SimulationWork,
  type SnapshotMade,
  type WalkWork,
  type WeightsWithSignals,
} from '../../src/group/ports/pool.js';
import type { LogReader, SnapshotStore } from '../../src/group/ports/storage.js';
import { redactPiece } from '../../src/group/removal/redaction.js';
import { Replica } from '../../src/group/replica/replica.js';
import type { ChangeWalk } from '../../src/group/verdict-changes.js';
import { verifyStore } from '../support/verify-store.js';
import type { Process, Thread } from './world.js';

export type PoolFault =
  /** The queue is full. */
  | 'busy'
  /** The task fails before it does anything. */
  | 'fails'
  /** Its worker dies once the work is done: the answer is lost, and so is what the worker held. */
  | 'dies';

type PoolThread = Extract<Thread, 'replica' | 'reader'>;

/** A failure that was asked for. */
export class PoolFailure extends Error {}

export class SimPool implements GroupPool {
  readonly #log: LogReader;
  readonly #snapshots: SnapshotStore;
  readonly #salt: Uint8Array;
  readonly #process: Pick<Process, 'work'>;
  readonly #onWeights: (upTo: number, computed: WeightsWithSignals) => void;
  #replica: Replica;
  /** Resolves once the files hold every acknowledged batch, as in the pool of a node. */
  filesStored: (() => Promise<void>) | null = null;
  /** The faults of a lane's next tasks. */
  readonly faults: Record<'replica' | 'reader', PoolFault[]> = { replica: [], reader: [] };

  constructor(
    log: LogReader,
    snapshots: SnapshotStore,
    salt: Uint8Array,
    process: Pick<Process, 'work'>,
    onWeights: (upTo: number, computed: WeightsWithSignals) => void,
  ) {
    this.#log = log;
    this.#snapshots = snapshots;
    this.#salt = salt;
    this.#process = process;
    this.#onWeights = onWeights;
    this.#replica = this.#started();
  }

  #started(): Replica {
    return new Replica(this.#log, this.#snapshots, this.#salt);
  }

  snapshot(upTo: number, epoch: number): Promise<SnapshotMade | null> {
    return this.#begin('replica', 'snapshot', async () => {
      const made = await this.#replica.snapshot(upTo, epoch);
      return made && { ...made, ms: 1 };
    });
  }

  follow(upTo: number): Promise<void> {
    return this.#begin('replica', 'follow', () => void this.#replica.follow(upTo));
  }

  redact(work: RemovalWork): Promise<RemovalPiece> {
    return this.#run('reader', 'redact', () => redactPiece(this.#log, work));
  }

  retire(work: RetentionWork): Promise<RetentionPiece> {
    return this.#run('replica', 'retire', () => this.#replica.retire(work));
  }

  weights(upTo: number, at: number): Promise<WeightsWithSignals> {
    return this.#run('replica', 'weights', () => {
      const computed = this.#replica.weights(upTo, at);
      this.#onWeights(upTo, computed);
      return computed;
    });
  }

  verdicts(upTo: number, at: number): Promise<VerdictCounts> {
    return this.#run('replica', 'verdicts', () => this.#replica.verdicts(upTo, at));
  }

  simulate(work: SimulationWork, onProgress: OnProgress): Promise<Simulation> {
    return this.#run('replica', 'simulate', () => this.#replica.simulate(work, onProgress));
  }

  publishChanges(work: FeedWork): Promise<FeedPiece> {
    return this.#begin('replica', 'publishChanges', () => this.#replica.publishChanges(work));
  }

  walkChanges(work: WalkWork): Promise<ChangeWalk | 'forgotten' | null> {
    return this.#run('replica', 'walkChanges', () => this.#replica.walkChanges(work));
  }

  endFeed(): Promise<void> {
    return this.#run('replica', 'endFeed', () => this.#replica.endFeed());
  }

  list(query: ListingQuery): Promise<Listing | null> {
    return this.#run('reader', 'list', () => listing.listEvents(new listing.RecordReader(this.#log), query));
  }

  pairEvents(query: PairEventsQuery): Promise<PairEvents> {
    return this.#run('reader', 'pairEvents', () => listing.readPairEvents(new listing.RecordReader(this.#log), query));
  }

  records(seqs: readonly number[]): Promise<readonly { readonly record: LogRecord; readonly at: number }[]> {
    return this.#run('reader', 'records', () => listing.readRecords(new listing.RecordReader(this.#log), seqs));
  }

  chain(query: ChainQuery): Promise<readonly PairRecord[]> {
    return this.#run('reader', 'chain', () => listing.readChain(new listing.RecordReader(this.#log), query));
  }

  repeats(query: RepeatQuery): Promise<RepeatsPiece> {
    return this.#run('reader', 'repeats', () => listing.readRepeats(new listing.RecordReader(this.#log), query));
  }

  logPiece(): Promise<never> {
    throw new Error('a simulated node has no other node to send its log to');
  }

  verify(): Promise<VerifyReport> {
    return this.#run('reader', 'verify', () => verifyStore(this.#log, this.#snapshots, null, 'full'));
  }

  check(): Promise<VerifyReport> {
    return this.verify();
  }

  #run<R>(lane: PoolThread, name: string, task: () => R | Promise<R>): Promise<R> {
    return this.filesStored?.().then(() => this.#begin(lane, name, task)) ?? this.#begin(lane, name, task);
  }

  #begin<R>(lane: PoolThread, name: string, task: () => R | Promise<R>): Promise<R> {
    const fault = this.faults[lane].shift();
    if (fault === 'busy') return Promise.reject(new PoolBusyError(`the ${name} queue is full`));
    return this.#process.work(lane, name, async () => {
      if (fault === 'fails') throw new PoolFailure(`${name} failed`);
      const done = await task();
      if (fault !== 'dies') return done;
      if (lane === 'replica') this.#replica = this.#started();
      throw new PoolFailure(`the worker died after ${name}`);
    });
  }
}
