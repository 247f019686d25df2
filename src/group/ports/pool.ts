/** Declares the pool as a port: the work that a group passes to other threads, with its requests and results. */
import type { RepeatCheck, RepeatFound } from '../../core/commands.js';
import type { EventTypeName } from '../../core/evidence/event-types.js';
import type { PairRecord } from '../../core/records/pair-records.js';
import type { DecidedEvent, LogRecord } from '../../core/records/records.js';
import type { ComputedWeights } from '../../core/rules/decide-setting.js';
import type { VerdictCounts } from '../../core/scoring/score.js';
import type { Scenario, Simulation } from '../../core/scoring/simulation.js';
import type { DiscountedPair } from '../../core/trust/peer-trust.js';
import type { WitnessPair } from '../../core/vocabulary.js';
import { NamedError } from '../../errors.js';
import type { ChangePiece, ChangeWalk, ResumeFrom } from '../verdict-changes.js';
import type { StoredBatch } from './storage.js';

export type OnProgress = (done: number, total: number) => void;

export interface SummaryRow {
  /** An event type, or `other` if fewer than 3 peers contributed. */
  readonly eventType: EventTypeName | 'other';
  /** ISO 8601 week of the event's timestamp (`2026-W47`); absent on an `other` row. */
  readonly week?: string;
  readonly count: number;
}

export interface VerifyReport {
  readonly ok: boolean;
  readonly lastSeq: number;
  readonly batches: number;
  readonly records: number;
  readonly auditEntries: number;
  readonly snapshots: readonly { readonly seq: number; readonly ok: boolean; readonly fault?: string }[];
  /** SHA-256, hex, of all batches as stored; present if the whole log was read. */
  readonly digest?: string;
  readonly faults: readonly string[];
}

/** `head` is the newest record of the event's pair. */
export interface ChainQuery {
  readonly head: number;
  readonly eventSeq: number;
  readonly expired: number;
  /** The holder to which the walk is charged. */
  readonly holder: Holder | null;
}

export interface RepeatQuery {
  readonly checks: readonly RepeatCheck[];
  /** Events up to this record have left the log. */
  readonly expired: number;
  readonly withdrawn: readonly number[];
  /** Null for the first piece. */
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
  /** Null if the next piece begins with another chain or there is none. */
  readonly next: ChainPlace | null;
}

export interface ListingQuery {
  readonly subject: Uint8Array;
  readonly heads: readonly ChainHead[];
  /** Those that the log may still contain. */
  readonly withdrawn: ReadonlySet<number>;
  /** Events up to this record have left the log: no chain is followed further back. */
  readonly expired: number;
  readonly holder: Holder | null;
  /** Null lists no own events. */
  readonly caller: number | null;
  readonly limit: number;
  /** One record of each chain of the caller's that has more; null starts from the newest. */
  readonly from: readonly number[] | null;
}

/** Its game is an index of the peer's list. */
export interface ListedEvent {
  readonly seq: number;
  readonly receivedAt: number;
  readonly event: DecidedEvent;
}

export interface Listing {
  readonly summarised: number;
  readonly summary: readonly SummaryRow[];
  readonly own: readonly ListedEvent[];
  /** Null at the end. */
  readonly next: readonly number[] | null;
}

export type PairEventsQuery = Pick<ChainQuery, 'head' | 'expired'>;

export interface PairEvents {
  readonly events: readonly ListedEvent[];
  readonly read: number;
  readonly next: number | null;
}

export interface RetentionWork {
  readonly type: 'retention';
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

export type RedactionWork = RemovalWork | RetentionWork;

/** Withdrawn events, and everything that names erased subjects. */
export interface RemovalWork {
  readonly type: 'removal';
  readonly events: readonly number[];
  /** Records at which the chains of the erased subjects continue. */
  readonly chains: readonly number[];
  /** The `subject_erased` records of these subjects. */
  readonly erasures: readonly number[];
  /** Key of the tags under which removed events stay known. */
  readonly tagKey: string;
}

export type RedactionPiece = RemovalPiece | RetentionPiece;

export interface Rewritten {
  readonly rewrites: readonly StoredBatch[];
  /** First sequence number and content digest of each. */
  readonly digests: readonly (readonly [firstSeq: number, digest: string])[];
}

export interface RemovalPiece extends Rewritten {
  readonly type: 'removal';
  /** The events, by peer, that are removed with an erasure, including events that their peer had withdrawn. */
  readonly erased: ReadonlyMap<number, readonly number[]>;
  readonly remaining: RemovalWork | null;
}

/** As of `at` (ms since 1970), or of the newest record if that is later. */
export interface SimulationWork {
  readonly upTo: number;
  readonly at: number;
  readonly scenario: Scenario;
  readonly rowsMax: number;
}

/** Asks for what is published up to record `upTo`, as of `at`. Times in ms since 1970. */
export interface FeedWork {
  /** If the replica does not have it, the feed begins anew. */
  readonly generation: string;
  readonly upTo: number;
  readonly at: number;
  /** Time at which `upTo` was the newest record. */
  readonly asOf: number;
  readonly erasedOnly: boolean;
  /** Changes are published by fixed steps, since readers may continue at other nodes. */
  readonly isShared?: true;
}

export interface FeedPiece extends ChangePiece {
  /** True if nothing of the generation was published before. */
  readonly isFirst: boolean;
}

export interface WalkWork {
  readonly generation: string;
  readonly from: number;
  readonly since: ResumeFrom;
}

export interface LogPieceQuery {
  readonly firstSeq: number;
  readonly limit: number;
}

export interface WeightsWithSignals extends ComputedWeights {
  readonly signals: WeightsSignals;
}

export interface WeightsSignals {
  readonly pairs: readonly DiscountedPair[];
  readonly witnessPairs: readonly WitnessPair[];
  /** Per peer: number of players that it reported, and of those that another peer reported, too. */
  readonly reported: Uint32Array;
  readonly shared: Uint32Array;
}

export class PoolBusyError extends NamedError {}

export interface SnapshotMade {
  readonly seq: number;
  /** Duration after the replica was ready. */
  readonly ms: number;
}

/** Work off the main thread. Calls reject with `PoolBusyError` if the queue is full, and with others if it failed. */
export interface GroupPool {
  /**
   * Writes a snapshot of the state at `upTo`, which the files hold, or later. Resolves with null, and writes none, if
   * the loaded state contains records that may not be durable yet.
   */
  snapshot(upTo: number, epoch: number): Promise<SnapshotMade | null>;
  /** Brings the replica up to `upTo`, and loads it if necessary. */
  follow(upTo: number): Promise<void>;
  /** Waits for no task of the replica and for no turn of readers: callers wait for it. */
  redact(work: RemovalWork): Promise<RemovalPiece>;
  retire(work: RetentionWork): Promise<RetentionPiece>;
  /** Computes peer weights from the state at `upTo`, evidence decayed to `at` (ms since 1970). */
  weights(upTo: number, at: number): Promise<WeightsWithSignals>;
  /** Counts verdicts in the state at `upTo`, as reads at `at` (ms since 1970) see them. */
  verdicts(upTo: number, at: number): Promise<VerdictCounts>;
  simulate(work: SimulationWork, onProgress: OnProgress): Promise<Simulation>;
  publishChanges(work: FeedWork): Promise<FeedPiece>;
  /** One piece; null if the generation is unknown, `forgotten` if the rows that a reader of another node lacks are. */
  walkChanges(work: WalkWork): Promise<ChangeWalk | 'forgotten' | null>;
  endFeed(): Promise<void>;
  list(query: ListingQuery): Promise<Listing | null>;
  pairEvents(query: PairEventsQuery): Promise<PairEvents>;
  records(
    seqs: readonly number[],
    holder?: Holder | null,
  ): Promise<readonly { readonly record: LogRecord; readonly at: number }[]>;
  chain(query: ChainQuery): Promise<readonly PairRecord[]>;
  repeats(query: RepeatQuery): Promise<RepeatsPiece>;
  /** As `writePiece` encodes it, empty at the end of the log. A borrowed view, valid until the next call. */
  logPiece(query: LogPieceQuery): Promise<Uint8Array>;
  verify(onProgress?: OnProgress): Promise<VerifyReport>;
  /** Verifies the store throttled and without a state in memory. Rejects when `signal` aborts. */
  check(onProgress: OnProgress, signal: AbortSignal): Promise<VerifyReport>;
}

export interface ChainHead {
  /** Number under which the evidence is held: that of the peer, or of a carrier. */
  readonly peer: number;
  readonly sender: number;
  /** Null for the peer's own evidence. */
  readonly origin: string | null;
  readonly head: number;
}

/** A holder of a bounded resource: the number of the peer whose key was sent, or else the address of the caller. */
export type Holder = number | string;

/** The Ed25519 signature of a request, with the text that it signs and the key that it must be made by. */
export interface SignedBase {
  /** Each character is one byte. */
  readonly base: string;
  /** 32 bytes, base64url. */
  readonly publicKey: string;
  /** 64 bytes. */
  readonly signature: Uint8Array;
}

/** Resolves to whether each signature is valid, in their order. */
export type VerifySignatures = (batch: readonly SignedBase[]) => Promise<readonly boolean[]>;
