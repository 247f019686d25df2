/**
 * Declares the relations between two peers: the operator's declarations, and the reasons that make two peers one
 * witness.
 */

/** Reason why two peers are one witness. */
export type WitnessReason = 'declared' | 'clones' | 'allied' | 'copied_list';

/** Two peers that are one witness, `first < second`; witness groups follow from all such pairs. */
export interface WitnessPair {
  readonly first: number;
  readonly second: number;
  readonly reason: WitnessReason;
}

/** The operator's declaration about two peers, `first < second`. */
export interface PeerRelation {
  readonly first: number;
  readonly second: number;
  readonly relation: 'same' | 'independent';
}
