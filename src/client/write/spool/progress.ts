/** Declares the target of a spool, and the progress of its deliveries as the owner of the spool sees it. */
import type { EventBody } from '../../../contract/request-bodies.js';
import type { CallOptions } from '../../call-types.js';
import type { TrustError, TrustErrorCode } from '../../trust-error.js';
import type { DeliveryResult, TrustEvent } from '../client-event.js';

/** The target of a spool: a {@link TrustClient} or a replacement. @public */
export interface SpoolTarget {
  /** Returns an event in the form in which it is sent, with all defaults filled in. */
  prepare(event: TrustEvent): EventBody;
  /** Called before each `prepare`; resolves once the form of sent events is known, or cannot be known now. */
  ready?(options: CallOptions): Promise<void>;
  /** Sends events in one call and returns the result of each. */
  deliver(events: readonly EventBody[], options: CallOptions): Promise<DeliveryResult[]>;
}

/** An event that the service will never accept as it is. @public */
export interface SetAsideEvent {
  /** The event as it was sent. */
  readonly event: EventBody;
  /** The code of the rejection. */
  readonly code: TrustErrorCode;
  /** The reason of the rejection, for people. */
  readonly reason: string;
}

/**
 * The phase of a spool:
 *
 * - `idle`: no event waits.
 * - `delivering`: events are being sent.
 * - `waiting`: the node fails; the spool retries.
 * - `refused`: the node refuses the peer (its key, its status) or the address; the spool retries after long pauses.
 * - `closed`: no event is delivered any more. @public
 */
export type SpoolPhase = 'idle' | 'delivering' | 'waiting' | 'refused' | 'closed';

/** The progress of a spool. Counts begin with `open`, except those of waiting events. @public */
export interface SpoolProgress {
  /** The present phase. */
  readonly phase: SpoolPhase;
  /** Number of waiting events on disk, including those of earlier runs. */
  readonly pending: number;
  /** Size of the waiting events in bytes. */
  readonly pendingBytes: number;
  /** Number of events that the node has stored, including duplicates. */
  readonly delivered: number;
  /** Number of delivered events that the node had stored before: sent twice, or submitted elsewhere. */
  readonly duplicates: number;
  /** Number of delivered events that are stored but are no evidence; see `counts` of {@link EventOutcome}. */
  readonly uncounted: number;
  /** Number of events that the service will never accept, which were set aside in a file. */
  readonly setAside: number;
  /** Number of events damaged by the disk, which were skipped. Their remains stay in the folder as `*.damaged`. */
  readonly damaged: number;
  /** The error that prevents delivery; null if there is none. */
  readonly lastError: TrustError | null;
}
