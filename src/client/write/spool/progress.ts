/** What a spool tells its owner about the events that it delivers. */
import type { EventBody } from '../../../contract/request-bodies.js';
import type { CallOptions } from '../../read/calls.js';
import type { TrustError, TrustErrorCode } from '../../trust-error.js';
import type { DeliveryResult, TrustEvent } from '../submission.js';

/**
 * Where a spool delivers to: a {@link TrustClient}, or something that stands in for one.
 * @public
 */
export interface SpoolTarget {
  /** An event in the form in which it travels, with everything filled in. */
  prepare(event: TrustEvent): EventBody;
  /** Called before each `prepare`; resolves once the form in which events travel is known, or cannot be known now. */
  ready?(options: CallOptions): Promise<void>;
  /** Sends events in one call, and says of each what came of it. */
  deliver(events: readonly EventBody[], options: CallOptions): Promise<DeliveryResult[]>;
}

/**
 * An event that the service will never take as it is.
 * @public
 */
export interface SetAsideEvent {
  /** The event as it was sent. */
  readonly event: EventBody;
  /** Why it was rejected. */
  readonly code: TrustErrorCode;
  /** The same for people. */
  readonly reason: string;
}

/**
 * What a spool is doing:
 *
 * - `idle`: nothing waits.
 * - `delivering`: events are on their way.
 * - `waiting`: the node is in trouble; it is tried again.
 * - `refused`: the node refuses the peer (its key, its status) or the address; it is tried again, seldom.
 * - `closed`: nothing is delivered any more.
 *
 * @public
 */
export type SpoolPhase = 'idle' | 'delivering' | 'waiting' | 'refused' | 'closed';

/**
 * How far a spool is. Counts begin with `open`, but for what waits.
 * @public
 */
export interface SpoolProgress {
  /** What it is doing. */
  readonly phase: SpoolPhase;
  /** Events on disk that wait, from earlier runs too. */
  readonly pending: number;
  /** Bytes of these. */
  readonly pendingBytes: number;
  /** Events that the node has, duplicates included. */
  readonly delivered: number;
  /** Of the delivered, those that the node had before: sent twice, or submitted elsewhere. */
  readonly duplicates: number;
  /** Events that the service will never take, set aside in a file. */
  readonly setAside: number;
  /** Events given up because the spool was full. */
  readonly dropped: number;
  /**
   * Events that the disk spoiled: passed over. The files that hold what is left of them stay in the folder as
   * `*.damaged`.
   */
  readonly damaged: number;
  /** What keeps delivery back; null while nothing does. */
  readonly lastError: TrustError | null;
}
