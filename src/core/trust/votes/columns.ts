/** The input of the peer-trust computation: a column view, built for one pass over many players. */
import type { Carrier } from '../../registers/origins.js';
import type { Joined } from '../../tables/peers.js';

/**
 * Decayed evidence, one entry per (player, peer); a player's entries are contiguous (CSR) and sorted by peer. Every sum
 * follows the order of players: the same order gives the same bits, another order the same values up to rounding.
 */
export interface EvidenceColumns {
  /** Number of peers, `P`. */
  readonly peers: number;
  /** Number of players, `N`. */
  readonly players: number;
  /** `N + 1` offsets: player `i` has the entries from `offsets[i]` up to `offsets[i + 1]`. */
  readonly offsets: Uint32Array;
  /** Per entry: its peer, below `peers`; a peer occurs at most once per player. */
  readonly peer: Uint32Array | Uint16Array;
  /** Per entry: the decayed mass that lowers trust, `b >= 0`. */
  readonly lowering: Float64Array;
  /** Per entry: the decayed mass that raises trust, `g >= 0`. */
  readonly raising: Float64Array;
}

/** Facts about the peers besides their evidence; flags are one byte per peer, 0 for no. */
export interface PeerFacts {
  readonly preTrusted: Uint8Array;
  /** 1 for revoked peers: neither their entries nor their pre-trust count. */
  readonly excluded: Uint8Array;
  /** Factor of each peer for its age, in [0, 1]; absent if all count in full. */
  readonly seniority?: Float64Array;
  /** Absent if no peer carries an origin. */
  readonly origins?: OriginFacts;
  /** Absent if no peer is new. */
  readonly joined?: Joined;
}

/**
 * Facts about origins and carriers, which have numbers among the peers. The votes of origins replace those of carriers.
 */
export interface OriginFacts {
  /** Numbers of the origins. */
  readonly origins: readonly number[];
  readonly carriers: readonly Carrier[];
  /** Indexed by number: 1 for a peer that carries an origin's evidence on some player. */
  readonly carries: Uint8Array;
}
