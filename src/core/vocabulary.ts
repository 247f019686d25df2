/** Declares the modes, verdicts, statuses, relations and reasons that the core shares with the layers above it. */

export const identityModes = ['privacy-first', 'high-security'] as const;
export type IdentityMode = (typeof identityModes)[number];

export const environments = ['dev', 'staging', 'prod'] as const;
export type Environment = (typeof environments)[number];

export const registrationModes = ['open', 'session', 'closed'] as const;
export type RegistrationMode = (typeof registrationModes)[number];

/** Signature modes: never checked, required of peers with a public key, or required of all peers. */
export const requestSignings = ['off', 'optional', 'required'] as const;
export type RequestSigning = (typeof requestSignings)[number];

/** Callers that may erase at once: any peer, a peer that alone reported the player, or only the operator. */
export const erasureModes = ['peer', 'own', 'operator'] as const;
export type ErasureMode = (typeof erasureModes)[number];

export const pendingReasons = ['operator_mode', 'peer_too_new', 'reported_by_others'] as const;
export type PendingReason = (typeof pendingReasons)[number];

export const peerStatuses = ['active', 'suspended', 'revoked'] as const;
export type PeerStatus = (typeof peerStatuses)[number];

export const disputeStatuses = ['open', 'upheld', 'rejected'] as const;
export type DisputeStatus = (typeof disputeStatuses)[number];

export const verdicts = ['trusted', 'neutral', 'suspicious', 'untrusted'] as const;
export type Verdict = (typeof verdicts)[number];
/** Index of each verdict. A map: V8 is slow for too many different property names of an object. */
export const verdictNumbers: ReadonlyMap<Verdict, number> = new Map(verdicts.map((verdict, n) => [verdict, n]));

/** Replaces the number of a peer if a caller without a key asked for an erasure. */
export const NO_KEY = -1;
/** Replaces the number of a peer if the operator asked, whom no quota binds. */
export const OPERATOR = -2;

export type WitnessReason = 'declared' | 'clones' | 'allied' | 'copied_list';

export interface WitnessPair {
  readonly first: number;
  readonly second: number;
  readonly reason: WitnessReason;
}

export interface PeerRelation extends Pick<WitnessPair, 'first' | 'second'> {
  readonly relation: 'same' | 'independent';
}
