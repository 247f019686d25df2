/**
 * What reads and the peer-trust computation need of a state. `GroupState` is one such view; a simulation makes another, with sums
 * or peers of its own.
 */
import type { PeerEntries } from './peer-entries.js';
import type { Subjects } from './subjects.js';

export type EvidenceSubjects = Pick<
  Subjects,
  'rows' | 'size' | 'firstEntry' | 'peerCount' | 'evidenceAt' | 'updatedAt' | 'readRows'
> & {
  readonly entries: Pick<
    PeerEntries,
    'peer' | 'count' | 'lowering' | 'raising' | 'putVotes' | 'isBelow' | 'warm' | 'size'
  >;
};

/** By number of the peer, as in `PeerWeights`. */
export interface PeerColumns {
  readonly tau: Float64Array;
  readonly a: Float64Array;
  readonly b: Float64Array;
  readonly weight: Float64Array;
  readonly preTrusted: Uint8Array;
  readonly excluded: Uint8Array;
}

/** Sums are scaled to `epoch`, ms since 1970. */
export interface EvidenceView {
  readonly subjects: EvidenceSubjects;
  readonly peerWeights: PeerColumns;
  readonly epoch: number;
  readonly halfLifeDays: number;
}
