/** What the peer-trust computation takes: a column view made for one pass over many players. */
import type { Carrier } from '../../registers/origins.js';

/**
 * Decayed evidence, one entry per (player, peer), a player's entries contiguous (CSR) and in the order of their peers.
 * The order of players is that of every sum: the same order gives the same bits, another order the same values to
 * rounding.
 */
export interface EvidenceColumns {
  /** Number of peers, `P`. */
  readonly peers: number;
  /** Number of players, `N`. */
  readonly players: number;
  /** `N + 1` positions: player `i` has the entries from `offsets[i]` up to `offsets[i + 1]`. */
  readonly offsets: Uint32Array;
  /** Per entry its peer, below `peers`; a peer stands at most once per player. */
  readonly peer: Uint32Array | Uint16Array;
  /** Per entry the decayed mass that lowers trust, `b >= 0`. */
  readonly lowering: Float64Array;
  /** Per entry the decayed mass that raises trust, `g >= 0`. */
  readonly raising: Float64Array;
}

/** What is known of the peers besides their evidence; flags are one byte per peer, 0 for no. */
export interface PeerFacts {
  readonly preTrusted: Uint8Array;
  /** Revoked peers: their entries count for nothing, and their pre-trust neither. */
  readonly excluded: Uint8Array;
  /** How far each counts for its age, in [0, 1]; absent: all in full. */
  readonly seniority?: Float64Array;
  /** Absent where no peer carries an origin. */
  readonly origins?: OriginFacts;
  /** Absent where no peer is new. */
  readonly joined?: Joined;
}

/** When peers joined the group, in ms since 1970. */
export interface Joined {
  /** Per peer; infinite for a number that is no peer's. */
  readonly at: Float64Array;
  /** Peers that joined later are new. */
  readonly newSince: number;
}

/** Origins and carriers stand among the peers, by their numbers; the votes of origins stand for those of carriers. */
export interface OriginFacts {
  /** Numbers of the origins. */
  readonly origins: readonly number[];
  readonly carriers: readonly Carrier[];
  /** By number: 1 for a peer that carries an origin's evidence on some player. */
  readonly carries: Uint8Array;
}
