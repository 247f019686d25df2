/** Declares the facts about peers and origins that the peer-trust computation takes besides the votes. */

import type { Joined } from '../../peers/peers.js';
import type { Carrier } from '../../registers/origins.js';

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

/** Facts about origins and carriers, numbered like peers. Votes of origins replace those of carriers. */
export interface OriginFacts {
  /** Numbers of the origins. */
  readonly origins: readonly number[];
  readonly carriers: readonly Carrier[];
  /** Indexed by number: 1 for a peer that carries an origin's evidence on some player. */
  readonly carries: Uint8Array;
}
