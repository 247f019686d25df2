/**
 * Declares the heads of a player's chains. A chain links the records of one pair of peer and player in the log;
 * listings and withdrawals follow it from its head, the newest record.
 */

export interface ChainHead {
  /** Number under which the evidence is held: that of the peer, or of a carrier. */
  readonly peer: number;
  readonly sender: number;
  /** Name of the origin; null for the peer's own evidence. */
  readonly origin: string | null;
  readonly head: number;
}

/** The chains of a subject and the size of its evidence: the input of a listing. */
export interface Chains {
  readonly total: number;
  readonly heads: readonly ChainHead[];
  /** The peers among the senders that see their events as disputed. */
  readonly disputed: readonly number[];
  /** Withdrawn events that the log may still contain. */
  readonly withdrawn: readonly number[];
  readonly asOf: number;
  /** Events up to this record have left the log. */
  readonly expired: number;
}
