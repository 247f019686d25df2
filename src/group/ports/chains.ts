/** Where the chains of a subject's records begin, as listings and withdrawals walk them. */

/** Where the chain of one pair begins. */
export interface ChainHead {
  /** Number under which the evidence is held: of the peer, or of a carrier. */
  readonly peer: number;
  /** The peer that sends it. */
  readonly sender: number;
  /** Name of the origin; null for what is the peer's own. */
  readonly origin: string | null;
  readonly head: number;
}

/** Where the chains of a subject begin and how much it holds: what a listing walks. */
export interface Chains {
  readonly total: number;
  /** Per pair with records the newest of them. */
  readonly heads: readonly ChainHead[];
  /** Of the peers that send them, those that are to see their events as disputed. */
  readonly disputed: readonly number[];
  /** Events that are withdrawn, though the log may still show them. */
  readonly withdrawn: readonly number[];
  /** The newest record of the state. */
  readonly asOf: number;
  /** Up to this record no event is in the log any more. */
  readonly expired: number;
}
