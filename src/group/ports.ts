/**
 * What a group needs of the world, as interfaces. `store/` and `workers/` implement them; a contract suite in
 * `test/contracts/` runs on every adapter. Bytes are opaque here: their formats belong to `core/`.
 */

import type { ChainLink } from '../core/chain.js';
import type { RepeatFound } from '../core/commands.js';
import type { LogRecord } from '../core/records.js';
import type { Simulation } from '../core/simulation.js';
import type { SnapshotBlock } from '../core/snapshot.js';
import type { ToldWalk } from '../core/told-table.js';
import type { VerdictCounts } from '../core/verdict-counts.js';
import type { OnProgress, VerifyReport } from './api.js';
import type { ChainQuery, Listing, ListingQuery, RepeatQuery } from './listing.js';
import type { RedactionPiece, RedactionWork } from './redaction.js';
import type { SimulationWork, TellWork, Told, WalkWork } from './replica.js';
import type { WeightsComputed } from './weights.js';
import type { WeightsPiece } from './weights-history.js';

/** One batch of records as stored: the key is the sequence number of its first record. */
export interface StoredBatch {
  readonly firstSeq: number;
  readonly bytes: Uint8Array;
}

/** Reading the log. Every call is one short read transaction of its own; nothing stays open between calls. */
export interface LogReader {
  /** The newest batch, or undefined where the log is empty. */
  last(): StoredBatch | undefined;
  /** The batch with the greatest `firstSeq` at or below `seq`. The bytes are the caller's own copy. */
  at(seq: number): StoredBatch | undefined;
  /** Batches with `firstSeq` at or above `firstSeq`, in order, until `limit` batches or about `maxBytes` are read (at least one). */
  from(firstSeq: number, limit: number, maxBytes: number): StoredBatch[];
  /** The same batches, each lent to `take`: its bytes hold until that returns. Throws what `take` throws. Tells how many there were. */
  lend(firstSeq: number, limit: number, maxBytes: number, take: (batch: StoredBatch) => void): number;
  close(): Promise<void>;
}

/** The single writer of a log, fenced by the owner's epoch. */
export interface LogWriter extends LogReader {
  /** This owner's epoch: one more than the last owner's. */
  readonly epoch: number;
  /**
   * Writes one new batch (null: none) and replaces earlier ones, all in one transaction, and resolves once no power cut can take it back.
   * Rejects with `OwnerLostError` where another owner took over: nothing was written, unless that one found the batch on its way and took it in. With any
   * other error the outcome is unknown. The caller must stop, and leave it to recovery.
   */
  append(batch: StoredBatch | null, rewrites: readonly StoredBatch[]): Promise<void>;
  /**
   * Overwrites what replaced values left behind in free space, so that no erased byte stays in the file. Rejects with
   * `ScrubDeferredError` where that has to wait, or where `signal` ends it.
   */
  scrub(signal?: AbortSignal): Promise<void>;
}

/** Another process owns the data folder now. */
export class OwnerLostError extends Error {
  override readonly name = 'OwnerLostError';
}

/** Stored bytes are not what was written. The message names the file, the block or the record. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
}

/** Something else than what is stored kept it from being read. Nothing is said of it. */
export class UnreadError extends Error {
  override readonly name: string = 'UnreadError';
}

/** A disk has no room left, not even for what a reader needs of it. */
export class DiskFullError extends UnreadError {
  override readonly name = 'DiskFullError';
}

/** The scrub could not be carried through now. Nothing was lost: it is to be asked for again. */
export class ScrubDeferredError extends Error {
  override readonly name = 'ScrubDeferredError';
}

export interface SnapshotHeader {
  /** Format version of the header and blocks. */
  readonly version: number;
  /** The state is the fold of all records up to and including this one. */
  readonly seq: number;
  /** Chain value (hex) of the batch that ends at `seq`. */
  readonly chain: string;
  /** Digest (hex) of the state, as `core/digest` computes it. */
  readonly digest: string;
  /** Owner epoch under which it was made. */
  readonly epoch: number;
}

/** Snapshots: whole images, each written once under a temporary name, then renamed into place. */
export interface SnapshotStore {
  /** Sequence numbers of the complete snapshots, newest first. Left-overs of interrupted writes are not listed. */
  list(): number[];
  /**
   * Resolves once the snapshot is synced and in place. Replaces one with the same `seq`. A block is done with before the next is asked
   * for, so that its memory can be that one's.
   */
  write(header: SnapshotHeader, blocks: Iterable<SnapshotBlock>): Promise<void>;
  /** Throws `DamagedError` where the header is missing, unreadable or fails its checksum. */
  readHeader(seq: number): SnapshotHeader;
  /**
   * Blocks in the order written, each checked against its CRC-32; throws `DamagedError` naming the block. The bytes of a block are lent: the next one,
   * or any other read of the store on this thread, overwrites them. Ends the read transaction whenever the iteration ends.
   */
  lendBlocks(seq: number): Iterable<SnapshotBlock>;
  remove(seq: number): Promise<void>;
  /** Removes left-overs of interrupted writes. */
  sweep(): Promise<void>;
}

/** What the disk under the data folder has left, and what the store takes of it. All in bytes. */
export interface DiskUse {
  /** What this process may still take, so without what is reserved for root. */
  readonly freeBytes: number;
  readonly logBytes: number;
  /** All snapshots together, left-overs included. */
  readonly snapshotsBytes: number;
  /** 0 where there is none. */
  readonly newestSnapshotBytes: number;
}

export interface DiskGauge {
  /** What this process may still take, in bytes: one call of the system, which never waits for the disk. */
  freeBytes(): number;
  look(): Promise<DiskUse>;
}

/** Disk space that is kept for commits on a full disk. */
export interface DiskReserve {
  /** Runs `act`, which on a full disk finds the space of the reserve free. */
  during<T>(act: () => Promise<T>): Promise<T>;
}

/** Time and chance, so that a simulation can own both. */
export interface Clock {
  /** ms since 1970. */
  now(): number;
}

/** Waiting, so that a simulation can own it. */
export interface Timers {
  /** ms since some moment, by a clock that only runs forward. */
  elapsed(): number;
  /** Acts once what runs now is done, and what has arrived meanwhile is taken in. */
  soon(act: () => void): void;
  /** Acts after so many ms, and keeps no process alive for it. The result calls it off. */
  later(act: () => void, ms: number): () => void;
}

export interface Entropy {
  bytes(count: number): Uint8Array;
  uuid(): string;
}

/** What a group tells whoever measures it. Called on the hot path: implementations only count. */
export interface GroupObserver {
  /** One durable commit: records in it, bytes written, ms from hand-over to durable. */
  turnCommitted(records: number, bytes: number, commitMs: number): void;
  /** So many submitted events were decided alike; `outcome` is `accepted` or the code of their refusal. */
  eventsDecided(eventType: string, outcome: string, events: number): void;
  /** The pool finished or failed a piece of work, in ms. */
  workDone(kind: 'snapshot' | 'redaction' | 'weights', ok: boolean, ms: number): void;
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

/** Work off the main thread. Every call rejects with `PoolBusyError` where the queue is full, with any error where it failed. */
export interface GroupPool {
  /**
   * Writes a snapshot of the state at `upTo`, which is durable, or of a later one that is, under the owner's `epoch`. Null, and none is made,
   * where the state to hand holds records that may not be durable yet.
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
  tell(work: TellWork): Promise<Told>;
  /** What the stream told after a position, a piece at a time; null where nothing of the generation is known. */
  walkTold(work: WalkWork): Promise<ToldWalk | null>;
  /** Forgets what was told. */
  endTelling(): Promise<void>;
  list(query: ListingQuery): Promise<Listing | null>;
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
