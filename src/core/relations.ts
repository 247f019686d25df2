/**
 * Declares the relations between two peers: the operator's declarations, and the reasons that make two peers one
 * witness.
 */

export type WitnessReason = 'declared' | 'clones' | 'allied' | 'copied_list';

/** Two peers that are one witness, `first < second`; witness groups follow from all such pairs. */
export interface WitnessPair {
  readonly first: number;
  readonly second: number;
  readonly reason: WitnessReason;
}

export interface PeerRelation {
  readonly first: number;
  readonly second: number;
  readonly relation: 'same' | 'independent';
}
