/** Work of a group off the main thread: the pool, and the messages that cross to it and back. */

import type { RepeatCheck, RepeatFound } from '../../core/commands.js';
import type { ChainLink } from '../../core/records/event-chain.js';
import type { DecidedEvent, LogRecord, WeightsPublished } from '../../core/records/records.js';
import type { WitnessPair } from '../../core/relations.js';
import type { Scenario, Simulation } from '../../core/scoring/simulation.js';
import type { VerdictCounts } from '../../core/scoring/verdict-counts.js';
import type { DiscountedPair } from '../../core/trust/peer-trust.js';
import type { OnProgress, SummaryRow, VerifyReport } from '../api.js';
import type { ChangePiece, ChangeWalk, ResumeFrom } from '../verdict-changes.js';
import type { ChainHead } from './chains.js';
import type { StoredBatch } from './log.js';

/** What of a pair's chain the withdrawal of event `eventSeq` needs; `head` is the pair's newest record. */
export interface ChainQuery {
  readonly head: number;
  readonly eventSeq: number;
  readonly expired: number;
}

/** Which events of a submission repeat one that the log holds. */
export interface RepeatQuery {
  readonly checks: readonly RepeatCheck[];
  readonly expired: number;
  readonly withdrawn: readonly number[];
}

export interface ListingQuery {
  readonly subject: Uint8Array;
  /** Where the chains of the player begin. */
  readonly heads: readonly ChainHead[];
  /** Events that are withdrawn, though the log may still show them. */
  readonly withdrawn: ReadonlySet<number>;
  /** Up to this record no event is in the log any more: no chain is followed so far back. */
  readonly expired: number;
  /** Number of the caller's peer, or null: no own events are listed. */
  readonly caller: number | null;
  readonly limit: number;
  /** Records to go on with, one of each chain of the caller's that has more; null: from the newest. */
  readonly from: readonly number[] | null;
}

/** One of the caller's events; its game is a position in the peer's list. */
export interface ListedEvent {
  readonly seq: number;
  readonly receivedAt: number;
  readonly event: DecidedEvent;
}

export interface Listing {
  readonly summarised: number;
  readonly summary: readonly SummaryRow[];
  readonly own: readonly ListedEvent[];
  /** Records to go on with, of each chain of the caller's that has more; null at the end. */
  readonly next: readonly number[] | null;
}

/** The events of one pair from record `head` on down. */
export interface PairEventsQuery {
  readonly head: number;
  readonly expired: number;
}

export interface PairEvents {
  readonly events: readonly ListedEvent[];
  /** Records that were read for them. */
  readonly read: number;
  /** The record to go on with, or null at the end. */
  readonly next: number | null;
}

/** Events that leave the log by their age. */
export interface RetentionWork {
  readonly type: 'retirement';
  /** Where the last piece ended. */
  readonly after: number;
  /** What comes after this record stays; it ends a batch. */
  readonly upTo: number;
  /** The newest durable record: where each pair's newest one is looked up. */
  readonly durable: number;
}

/** What left by its age, and whose sums must be kept for it. */
export interface RetentionPiece extends Rewritten {
  readonly type: 'retirement';
  readonly upTo: number;
  /**
   * Without those whose sums a newer record keeps already: one record a pair is enough, however many pieces name it.
   */
  readonly pairs: readonly { readonly subject: Uint8Array; readonly peer: number }[];
}

/** What is to leave the log. */
export type RedactionWork = RemovalWork | RetentionWork;

/** Withdrawn events, and all that names erased subjects. */
export interface RemovalWork {
  readonly type: 'removal';
  /** Withdrawn events. */
  readonly events: readonly number[];
  /** Where the chains of the erased subjects go on. */
  readonly chains: readonly number[];
  /** The `subject_erased` records of these. */
  readonly erasures: readonly number[];
}

export type RedactionPiece = RemovalPiece | RetentionPiece;

export interface Rewritten {
  /** Batches with their new content. */
  readonly rewrites: readonly StoredBatch[];
  /** First sequence number and content digest of each. */
  readonly digests: readonly (readonly [firstSeq: number, digest: string])[];
}

export interface RemovalPiece extends Rewritten {
  readonly type: 'removal';
  /** The events, by peer, that leave with an erasure; those that their peer had withdrawn may be among them. */
  readonly erased: ReadonlyMap<number, readonly number[]>;
  /** What is left to do; null when this piece is the last. */
  readonly remaining: RemovalWork | null;
}

/**
 * What is to be simulated: on the state at `upTo`, at the moment `at` (ms since 1970) or the newest record's where that
 * is later.
 */
export interface SimulationWork {
  readonly upTo: number;
  readonly at: number;
  readonly scenario: Scenario;
  readonly rowsMax: number;
}

/** The next piece of the verdict stream: all up to record `upTo`, as reads see it at `at`. Times in ms since 1970. */
export interface FeedWork {
  /** Names what was told so far; one that the replica does not hold is begun anew. */
  readonly generation: string;
  readonly upTo: number;
  readonly at: number;
  /** When `upTo` was the newest record. */
  readonly asOf: number;
  /** Tells erased players and nothing else. */
  readonly erasedOnly: boolean;
  /** Set where readers may go on at other nodes: changes are then published by fixed steps. */
  readonly isShared?: true;
}

export interface FeedPiece extends ChangePiece {
  /** Whether nothing of the generation was told before. */
  readonly isFirst: boolean;
}

/** What was told after `since`, from row `from` on. */
export interface WalkWork {
  readonly generation: string;
  readonly from: number;
  readonly since: ResumeFrom;
}

/** What a computation in the pool answers. */
export interface WeightsComputed {
  readonly basedOnSeq: number;
  readonly computedAt: number;
  readonly pi: number;
  readonly tau: Float64Array;
  readonly a: Float64Array;
  readonly b: Float64Array;
  readonly z: Float64Array;
  readonly witness: Uint16Array;
  readonly signals: WeightsSignals;
}

/** For operators: what stands out about peers. */
export interface WeightsSignals {
  /** Pairs whose joint behaviour the gate discounts. */
  readonly pairs: readonly DiscountedPair[];
  /** Pairs that make witness groups, each with its reason. */
  readonly witnessPairs: readonly WitnessPair[];
  /** Per peer: players that it reported, and those of them that another peer reported too. */
  readonly reported: Uint32Array;
  readonly shared: Uint32Array;
}

export interface WeightsPiece {
  readonly published: readonly { readonly seq: number; readonly at: number; readonly record: WeightsPublished }[];
  /** The last record that was looked at. */
  readonly upTo: number;
}

/** The pool has no room for more work now. */
export class PoolBusyError extends Error {
  override readonly name = 'PoolBusyError';
}

export interface SnapshotMade {
  readonly seq: number;
  /** What it took once the replica was there. */
  readonly ms: number;
}

/**
 * Work off the main thread. Every call rejects with `PoolBusyError` where the queue is full, with any error where it
 * failed.
 */
export interface GroupPool {
  /**
   * Writes a snapshot of the state at `upTo`, which is durable, or of a later one that is, under the owner's `epoch`.
   * Null, and none is made, where the state to hand holds records that may not be durable yet.
   */
  snapshot(upTo: number, epoch: number): Promise<SnapshotMade | null>;
  /** Brings the replica up to `upTo`, loading it where it is not loaded. */
  follow(upTo: number): Promise<void>;
  redact(work: RedactionWork): Promise<RedactionPiece>;
  /** Computes peer weights from the state at `upTo`, evidence decayed to `at` (ms since 1970). */
  weights(upTo: number, at: number): Promise<WeightsComputed>;
  /** Counts verdicts in the state at `upTo`, as reads see them at `at` (ms since 1970). */
  verdicts(upTo: number, at: number): Promise<VerdictCounts>;
  simulate(work: SimulationWork, onProgress: OnProgress): Promise<Simulation>;
  /** The next piece of the verdict stream. */
  publishChanges(work: FeedWork): Promise<FeedPiece>;
  /** What the stream told after a position, a piece at a time; null where nothing of the generation is known. */
  walkChanges(work: WalkWork): Promise<ChangeWalk | 'forgotten' | null>;
  /** Forgets what was told. */
  endFeed(): Promise<void>;
  list(query: ListingQuery): Promise<Listing | null>;
  /** The events of one pair, as far as one piece reaches. */
  pairEvents(query: PairEventsQuery): Promise<PairEvents>;
  /** Peer weights published after record `after`, up to record `last`, as far as one piece reaches. */
  publishedWeights(after: number, last: number): Promise<WeightsPiece>;
  /** The records with these sequence numbers, each with the time of its batch. */
  records(seqs: readonly number[]): Promise<readonly { readonly record: LogRecord; readonly at: number }[]>;
  /** The chain of a pair as far as the withdrawal of one of its events must know it. */
  chain(query: ChainQuery): Promise<readonly ChainLink[]>;
  /** Which events of a submission repeat earlier ones. */
  repeats(query: RepeatQuery): Promise<readonly RepeatFound[]>;
  /** Verifies the whole store, in a process of its own. */
  verify(onProgress?: OnProgress): Promise<VerifyReport>;
  /** The same at rest most of the time and without a state in memory, until `signal` ends it, and then it rejects. */
  check(onProgress: OnProgress, signal: AbortSignal): Promise<VerifyReport>;
}
