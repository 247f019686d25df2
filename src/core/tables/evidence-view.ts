/**
 * What reads and the peer-trust computation need of a state. `GroupState` is one such view; a simulation makes another,
 * with sums or peers of its own.
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

/** What each peer, and each carrier of an origin, counts for on reads, by its number. */
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
  /** The lowest peer of its witness group; 1 where the group has others, `CARRIES` for a carrier. */
  readonly witness: Uint16Array;
  readonly isGrouped: Uint8Array;
  /** The peer that sends it: of a carrier its peer, else the number itself. */
  readonly sender: Uint16Array;
  /** 1 for a pre-trusted peer. */
  readonly preTrusted: Uint8Array;
  /** 1 for a revoked peer, whose evidence counts for nothing. */
  readonly excluded: Uint8Array;
  /** Log-odds between a player of whom nothing is known and `suspicious`, where all witnesses are two-sided. */
  readonly distance: number;
}

/** Sums are scaled to `epoch`, ms since 1970. */
export interface EvidenceView {
  readonly subjects: EvidenceSubjects;
  readonly peerWeights: PeerColumns;
  readonly epoch: number;
  readonly halfLifeDays: number;
}
