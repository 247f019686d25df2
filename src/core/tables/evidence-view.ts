/** Declares what reads and the peer-trust computation need: of `GroupState`, or of a simulation with its own sums. */
import type { Scales } from '../evidence/decay.js';
import type { PeerEntries } from './peer-entries.js';
import type { Subjects } from './subjects.js';

export type EvidenceSubjects = Pick<
  Subjects,
  'rows' | 'size' | 'firstEntry' | 'peerCount' | 'evidenceAt' | 'updatedAt' | 'readRows'
> & {
  readonly entries: Pick<
    PeerEntries,
    'peer' | 'count' | 'isVoid' | 'lowering' | 'raising' | 'measure' | 'follows' | 'putVotes' | 'prefetch' | 'size'
  >;
};

/** Values of each peer, and of each carrier of an origin, that reads use; indexed by number. */
export interface PeerColumns extends Pick<MeasureWeights, 'm' | 'finds' | 'findsClaim'> {
  /** The gate, in [0, 1]. */
  readonly tau: Float64Array;
  /** Log-odds of a bad and of a good vote, in [0, 3.5]. */
  readonly a: Float64Array;
  readonly b: Float64Array;
  /** Two-sidedness, in [0, 1). */
  readonly z: Float64Array;
  /** `clip(tau (A + B) / 4, 0, 1)`, the weight of claims, and `clip(tau M / 4, 0, 1)`, that of measures. */
  readonly weight: Float64Array;
  readonly measureWeight: Float64Array;
  readonly published: Float64Array;
  /** Lowest peer of the witness group. `isGrouped` is 1 if the group has other members, and `CARRIES` for a carrier. */
  readonly witness: Uint16Array;
  readonly isGrouped: Uint8Array;
  /** The peer that sends the evidence: the peer of a carrier, else the number itself. */
  readonly sender: Uint16Array;
  readonly preTrusted: Uint8Array;
  /** 1 for a revoked peer, whose evidence does not count. */
  readonly excluded: Uint8Array;
  /** Log-odds between an unknown player and `suspicious` if all witnesses are two-sided. */
  readonly distance: number;
}

export interface MeasureWeights {
  /** Log-odds of a standing measure, in [0, 4]. */
  readonly m: Float64Array;
  /** Share, in [0, 1], of the peer's measures and of its lowering claims that it did not repeat from others. */
  readonly finds: Float64Array;
  readonly findsClaim: Float64Array;
  /** 1 for a peer that took measures, and 1 for a peer whose evidence the computation included. */
  readonly measured: Uint8Array;
  readonly judged: Uint8Array;
}

export interface EvidenceView extends Scales {
  readonly subjects: EvidenceSubjects;
  readonly peerWeights: PeerColumns;
}
