/** The words that the core shares with the floors above it, each stated once. */

export const identityModes = ['privacy-first', 'high-security'] as const;
export type IdentityMode = (typeof identityModes)[number];

export const environments = ['dev', 'staging', 'prod'] as const;
export type Environment = (typeof environments)[number];

export const registrationModes = ['open', 'session', 'closed'] as const;
export type RegistrationMode = (typeof registrationModes)[number];

/** Whether writes must be signed: never looked at, by peers with a public key, or by all. */
export const requestSignings = ['off', 'optional', 'required'] as const;
export type RequestSigning = (typeof requestSignings)[number];

/** Who erases at once: any peer, a peer that alone reported the player, or the operator alone. */
export const erasureModes = ['peer', 'own', 'operator'] as const;
export type ErasureMode = (typeof erasureModes)[number];

/** Why an erasure waits for the operator. */
export const pendingReasons = ['operator_mode', 'peer_too_new', 'reported_by_others'] as const;
export type PendingReason = (typeof pendingReasons)[number];

export const peerStatuses = ['active', 'suspended', 'revoked'] as const;
export type PeerStatus = (typeof peerStatuses)[number];

export const disputeStatuses = ['open', 'upheld', 'rejected'] as const;
export type DisputeStatus = (typeof disputeStatuses)[number];

export const verdicts = ['trusted', 'neutral', 'suspicious', 'untrusted'] as const;
export type Verdict = (typeof verdicts)[number];
/** The place of each among `verdicts`. A map: where a name is looked up as a property V8 soon knows too many. */
export const verdictNumbers: ReadonlyMap<Verdict, number> = new Map(verdicts.map((verdict, n) => [verdict, n]));

/** Stands for the number of a peer where a caller without a key asked for an erasure. */
export const NO_KEY = -1;
/** Stands there where the operator asked, whom no quota binds. */
export const OPERATOR = -2;
