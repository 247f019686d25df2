/**
 * Declares the heads of a player's chains. A chain links the records of one pair of peer and player, the newest first.
 */

export interface ChainHead {
  /** Number under which the evidence is held: that of the peer, or of a carrier. */
  readonly peer: number;
  readonly sender: number;
  /** Null for the peer's own evidence. */
  readonly origin: string | null;
  readonly head: number;
}

export interface Chains {
  readonly total: number;
  readonly heads: readonly ChainHead[];
  /** The peers among the senders that see their events as disputed. */
  readonly disputed: readonly number[];
  readonly withdrawn: readonly number[];
  readonly asOf: number;
  /** Events up to this record have left the log. */
  readonly expired: number;
}
