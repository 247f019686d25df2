/** How peers relate: what an operator declares of two peers, and what makes two peers one witness. */

/** Why two peers are one witness. */
export type WitnessReason = 'declared' | 'clones' | 'copied_list';

/** Two peers that were found to be one witness, `first < second`; groups follow from all such pairs. */
export interface WitnessPair {
  readonly first: number;
  readonly second: number;
  readonly reason: WitnessReason;
}

/** What the operator declared about two peers, `first < second`. */
export interface PeerRelation {
  readonly first: number;
  readonly second: number;
  readonly relation: 'same' | 'independent';
}
