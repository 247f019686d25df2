/**
 * Declares the part of a state that reads and the peer-trust computation need. `GroupState` is one such view; a
 * simulation builds another, with its own sums or peers.
 */
import type { PeerEntries } from './peer-entries.js';
import type { Subjects } from './subjects.js';

export type EvidenceSubjects = Pick<
  Subjects,
  'rows' | 'size' | 'firstEntry' | 'peerCount' | 'evidenceAt' | 'updatedAt' | 'readRows'
> & {
  readonly entries: Pick<
    PeerEntries,
    'peer' | 'count' | 'isVoid' | 'lowering' | 'raising' | 'putVotes' | 'isBelow' | 'prefetch' | 'size'
  >;
};

/** Values of each peer, and of each carrier of an origin, that reads use; indexed by number. */
export interface PeerColumns {
  /** The gate, in [0, 1]. */
  readonly tau: Float64Array;
  /** Log-odds of a bad and of a good vote, in [0, 3.5]. */
  readonly a: Float64Array;
  readonly b: Float64Array;
  /** Two-sidedness, in [0, 1). */
  readonly z: Float64Array;
  /** `clip(tau (A + B) / 4, 0, 1)`. */
  readonly weight: Float64Array;
  /** Lowest peer of the witness group. `isGrouped` is 1 if the group has other members, and `CARRIES` for a carrier. */
  readonly witness: Uint16Array;
  readonly isGrouped: Uint8Array;
  /** The peer that sends the evidence: the peer of a carrier, else the number itself. */
  readonly sender: Uint16Array;
  /** 1 for a pre-trusted peer. */
  readonly preTrusted: Uint8Array;
  /** 1 for a revoked peer, whose evidence does not count. */
  readonly excluded: Uint8Array;
  /** Log-odds between an unknown player and `suspicious` if all witnesses are two-sided. */
  readonly distance: number;
}

/** Evidence sums scaled to `epoch`, in ms since 1970. */
export interface EvidenceView {
  readonly subjects: EvidenceSubjects;
  readonly peerWeights: PeerColumns;
  readonly epoch: number;
  readonly halfLifeDays: number;
}
