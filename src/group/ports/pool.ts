/**
 * Declares the pool as a port: the work that a group passes to other threads, and the requests and results of that
 * work.
 */

import type { RepeatCheck, RepeatFound } from '../../core/commands.js';
import type { PairRecord } from '../../core/records/pair-records.js';
import type { DecidedEvent, LogRecord } from '../../core/records/records.js';
import type { WitnessPair } from '../../core/relations.js';
import type { Scenario, Simulation } from '../../core/scoring/simulation.js';
import type { VerdictCounts } from '../../core/scoring/verdict-counts.js';
import type { DiscountedPair, PeerTrust } from '../../core/trust/peer-trust.js';
import type { OnProgress, SummaryRow, VerifyReport } from '../api.js';
import type { Holder } from '../holder.js';
import type { ChangePiece, ChangeWalk, ResumeFrom } from '../verdict-changes.js';
import type { ChainHead } from './chains.js';
import type { StoredBatch } from './log.js';

/** Asks for the chain of a pair that the withdrawal of event `eventSeq` needs; `head` is the pair's newest record. */
export interface ChainQuery {
  readonly head: number;
  readonly eventSeq: number;
  readonly expired: number;
  /** The holder to which the walk is charged. */
  readonly holder: Holder | null;
}

/** Asks which events of a submission repeat one in the log. */
export interface RepeatQuery {
  readonly checks: readonly RepeatCheck[];
  readonly expired: number;
  readonly withdrawn: readonly number[];
  /** The place at which the last piece stopped; null for the first piece. */
  readonly from: ChainPlace | null;
  readonly holder: Holder | null;
}

/** A place within a chain, after `walked` of its records. */
export interface ChainPlace {
  readonly head: number;
  readonly seq: number;
  readonly walked: number;
}

export interface RepeatsPiece {
  readonly found: readonly RepeatFound[];
  /** The place at which the next piece continues; null if it begins with another chain or there is none. */
  readonly next: ChainPlace | null;
}

export interface ListingQuery {
  readonly subject: Uint8Array;
  /** Heads of the player's chains. */
  readonly heads: readonly ChainHead[];
  /** Withdrawn events that the log may still contain. */
  readonly withdrawn: ReadonlySet<number>;
  /** Events up to this record have left the log: no chain is followed further back. */
  readonly expired: number;
  readonly holder: Holder | null;
  /** Number of the caller's peer; null lists no own events. */
  readonly caller: number | null;
  readonly limit: number;
  /** Records to continue from, one of each chain of the caller's that has more; null starts from the newest. */
  readonly from: readonly number[] | null;
}

/** One of the caller's events; its game is an index of the peer's list. */
export interface ListedEvent {
  readonly seq: number;
  readonly receivedAt: number;
  readonly event: DecidedEvent;
}

export interface Listing {
  readonly summarised: number;
  readonly summary: readonly SummaryRow[];
  readonly own: readonly ListedEvent[];
  /** Records to continue from, one of each chain of the caller's that has more; null at the end. */
  readonly next: readonly number[] | null;
}

/** Asks for the events of one pair from record `head` on downwards. */
export interface PairEventsQuery {
  readonly head: number;
  readonly expired: number;
}

export interface PairEvents {
  readonly events: readonly ListedEvent[];
  /** Number of records that were read. */
  readonly read: number;
  /** The record to continue from, or null at the end. */
  readonly next: number | null;
}

/** Events that leave the log because of their age. */
export interface RetentionWork {
  readonly type: 'retention';
  /** Record at which the last piece ended. */
  readonly after: number;
  /** Later records stay; this one ends a batch. */
  readonly upTo: number;
  /** The newest durable record, as of which the newest record of each pair is looked up. */
  readonly durable: number;
}

/** Expired events, and the pairs whose sums must be preserved for them. */
export interface RetentionPiece extends Rewritten {
  readonly type: 'retention';
  readonly upTo: number;
  /** Omits the pairs whose sums a newer record states already: one record per pair is enough. */
  readonly pairs: readonly { readonly subject: Uint8Array; readonly peer: number }[];
}

/** Events to remove from the log. */
export type RedactionWork = RemovalWork | RetentionWork;

/** Withdrawn events, and everything that names erased subjects. */
export interface RemovalWork {
  readonly type: 'removal';
  /** Withdrawn events. */
  readonly events: readonly number[];
  /** Records at which the chains of the erased subjects continue. */
  readonly chains: readonly number[];
  /** The `subject_erased` records of these subjects. */
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
  /** The events, by peer, that are removed with an erasure, including events that their peer had withdrawn. */
  readonly erased: ReadonlyMap<number, readonly number[]>;
  /** The remaining work; null if this piece is the last. */
  readonly remaining: RemovalWork | null;
}

/** A simulation on the state at `upTo`, as of `at` (ms since 1970), or as of the newest record if that is later. */
export interface SimulationWork {
  readonly upTo: number;
  readonly at: number;
  readonly scenario: Scenario;
  readonly rowsMax: number;
}

/** Asks for what the verdict stream publishes up to record `upTo`, as of `at`. Times in ms since 1970. */
export interface FeedWork {
  /** Identifies the published state so far; if the replica does not have it, the feed begins anew. */
  readonly generation: string;
  readonly upTo: number;
  readonly at: number;
  /** Time at which `upTo` was the newest record. */
  readonly asOf: number;
  /** Publishes erased players only. */
  readonly erasedOnly: boolean;
  /** Set if readers may continue at other nodes: changes are then published by fixed steps. */
  readonly isShared?: true;
}

export interface FeedPiece extends ChangePiece {
  /** True if nothing of the generation was published before. */
  readonly isFirst: boolean;
}

/** Asks for the rows that were published after `since`, from row `from` on. */
export interface WalkWork {
  readonly generation: string;
  readonly from: number;
  readonly since: ResumeFrom;
}

/** Asks for up to `limit` batches of the log, from record `firstSeq` on. */
export interface LogPieceQuery {
  readonly firstSeq: number;
  readonly limit: number;
}

export interface WeightsComputed extends Pick<PeerTrust, 'pi' | 'tau' | 'a' | 'b' | 'z' | 'witness' | 'measures'> {
  readonly basedOnSeq: number;
  readonly computedAt: number;
  readonly signals: WeightsSignals;
}

/** Findings about peers, for operators. */
export interface WeightsSignals {
  /** Pairs whose agreement the gate discounts. */
  readonly pairs: readonly DiscountedPair[];
  /** Pairs that make witness groups, each with its reason. */
  readonly witnessPairs: readonly WitnessPair[];
  /** Per peer: number of players that it reported, and of those that another peer reported, too. */
  readonly reported: Uint32Array;
  readonly shared: Uint32Array;
}

/** The pool has no room for more work now. */
export class PoolBusyError extends Error {
  override readonly name = 'PoolBusyError';
}

export interface SnapshotMade {
  readonly seq: number;
  /** Duration after the replica was ready. */
  readonly ms: number;
}

/** Work off the main thread. Calls reject with `PoolBusyError` if the queue is full, and with others if it failed. */
export interface GroupPool {
  /**
   * Writes a snapshot of the durable state at `upTo`, or of a later durable one, under the owner's `epoch`. Resolves
   * with null, and writes none, if the loaded state contains records that may not be durable yet.
   */
  snapshot(upTo: number, epoch: number): Promise<SnapshotMade | null>;
  /** Brings the replica up to `upTo`, and loads it if necessary. */
  follow(upTo: number): Promise<void>;
  redact(work: RedactionWork): Promise<RedactionPiece>;
  /** Computes peer weights from the state at `upTo`, evidence decayed to `at` (ms since 1970). */
  weights(upTo: number, at: number): Promise<WeightsComputed>;
  /** Counts verdicts in the state at `upTo`, as reads at `at` (ms since 1970) see them. */
  verdicts(upTo: number, at: number): Promise<VerdictCounts>;
  simulate(work: SimulationWork, onProgress: OnProgress): Promise<Simulation>;
  /** Returns the next piece of the verdict stream. */
  publishChanges(work: FeedWork): Promise<FeedPiece>;
  /**
   * Returns the rows that the stream published after a position, one piece at a time; null if nothing of the generation
   * is known, `forgotten` if the rows that a reader of another node lacks are not known.
   */
  walkChanges(work: WalkWork): Promise<ChangeWalk | 'forgotten' | null>;
  /** Forgets the published state. */
  endFeed(): Promise<void>;
  list(query: ListingQuery): Promise<Listing | null>;
  /** Returns the events of one pair, as far as one piece reaches. */
  pairEvents(query: PairEventsQuery): Promise<PairEvents>;
  /** Returns the records with these sequence numbers, each with the time of its batch. */
  records(
    seqs: readonly number[],
    holder?: Holder | null,
  ): Promise<readonly { readonly record: LogRecord; readonly at: number }[]>;
  /** Returns the chain of a pair that the withdrawal of one of its events needs. */
  chain(query: ChainQuery): Promise<readonly PairRecord[]>;
  /** Finds the events of a submission that repeat earlier ones, piece by piece. */
  repeats(query: RepeatQuery): Promise<RepeatsPiece>;
  /**
   * Returns a piece of the log, as `group/backup/log-piece` encodes it; it is empty at the end of the log. The bytes
   * are a borrowed view, valid until the next call.
   */
  logPiece(query: LogPieceQuery): Promise<Uint8Array>;
  /** Verifies the whole store, in a process of its own. */
  verify(onProgress?: OnProgress): Promise<VerifyReport>;
  /** Verifies the store throttled and without a state in memory. Rejects when `signal` aborts. */
  check(onProgress: OnProgress, signal: AbortSignal): Promise<VerifyReport>;
}
