/** Declares what operators say about two peers, and the reasons that make two peers one witness. */

export type WitnessReason = 'declared' | 'clones' | 'allied' | 'copied_list';

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
