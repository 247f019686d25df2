/**
 * Every number of the scoring page, once: what a score read and the peer-trust computation use.
 * Published scores depend on all of them; changing one is a decision with figures from the quality bench. Where such a
 * decision left the scoring page's number, `referenceConstants` keeps it.
 */

export const trustConstants = {
  // From evidence to counts. Evidence `m` is the decayed mass of one peer on one player, in events of severity 1.
  /** Evidence at which a peer's say on one player has reached half of `saturationMax`. */
  halfSaturation: 0.5,
  /** What one peer can count on one player, however much it sends. */
  saturationMax: 1.5,

  // Score read
  /** Effective evidence at which confidence is one half. */
  confidenceHalf: 4.2,
  /** The other peers' summed log-odds stay within this many times those of the pre-trusted peers. */
  preTrustClip: 1.5,
  /** Mean of A and B from which a peer with an open gate has the published weight 1. */
  weightReference: 2,

  /** Published weights are replaced where tau, A, B or the share of bad players moved by more than this. */
  publishStep: 0.001,

  // Verdict bands of the score, 0 to 100
  untrustedBelow: 20,
  /** Peers with evidence that `untrusted` needs: one peer alone never condemns. */
  untrustedPeersMin: 2,
  suspiciousBelow: 40,
  trustedFrom: 70,
  trustedConfidenceMin: 0.35,

  // Stage 1: the gate tau, from pairs of peers
  /** Bounds of the group's median vote `mu`. */
  medianVoteMin: 0.05,
  medianVoteMax: 0.5,
  /** Voting mass with which one peer counts in the median of votes, at most. */
  medianVoteMassMax: 50,
  /** Pseudo-votes at `mu` that a peer's own mean vote starts from. */
  ownVotePrior: 0.5,
  /** Mean spread around their own mean votes from which a pair counts as two-sided. */
  twoSidedSpread: 0.01,
  /** Correlation that already counts as full agreement: perfect agreement earns no more. */
  fullAgreement: 0.2,
  /** Least product of squared spreads, only against a division by zero. */
  spreadProductMin: 1e-12,
  /** Shared players that pull a pair's correlation half-way to 0, before it is held against `fullAgreement`. */
  correlationPrior: 20,
  /** Shared players that pull a pair's agreement half-way to 0, after that; 0 since `correlationPrior` does it. */
  agreementPrior: 0,
  /** Shared players with which one pair counts, at most. */
  sharedMax: 10,
  /** What a pair that is not two-sided counts, as a part of one that is. */
  oneSidedPart: 0.1,
  /** Pair weight with which one peer counts in the median of reputations, at most. */
  reputationMassMax: 100,
  /** Weight and value of the reputation that a peer starts from; the value is 0 in a group with pre-trusted peers. */
  reputationPriorMass: 6,
  reputationPrior: 0.25,
  /** The part of the median reputation that opens the gate fully. */
  fullGatePart: 0.5,
  /** The gate from which on a peer vouches for others; from there in proportion up to a full gate. */
  vouchesFrom: 0.5,
  /** The least reference in a group with pre-trusted peers, and in one without (there only against a division by zero). */
  gateReferenceMinPreTrusted: 0.3,
  gateReferenceMin: 1e-9,
  gateRoundsMax: 30,
  /** Largest change of a gate at which the rounds end. */
  gateSettled: 1e-4,
  /** Peers that share players with another, up to which no gate can be told and tau is 1. */
  ungatedPeersMax: 2,

  // Both stages
  /** Least mass to divide by, only against a division by zero. */
  massMin: 1e-9,

  // Stage 2: log-odds A (of a bad vote) and B (of a good one) per peer
  rounds: 10,
  /** Peers with votes from which an uncorroborated vote counts at all. */
  corroboratedPeersMin: 3,
  /** A vote counts (R + floor) / (R + half) by the corroborating mass R of the other peers on that player. */
  corroborationFloor: 0.15,
  corroborationHalf: 0.5,
  /** Mass of votes on one player up to which they do not count as repeating each other while peers are judged. */
  repeatsFrom: 2,
  /** The prior log-odds of a peer, and the votes it is worth: for one that votes both ways, and for one that does not. */
  priorLogOdds: 1.4,
  priorVotes: 16,
  priorVotesOneWay: 8,
  priorLogOddsPreTrusted: 2.2,
  priorVotesPreTrusted: 20,
  /** How far the prior of a peer that votes both ways follows what the group's peers are like together. */
  groupPriorPart: 0.5,
  /**
   * Votes at the prior log-odds that the group's own rates start from; votes with which one peer counts at most, in them and in the bound of
   * the share of bad players.
   */
  groupPriorVotes: 20,
  groupVotesMax: 100,
  /** Bounds of A and B, and the floor of a pre-trusted peer's. */
  logOddsMax: 3.5,
  logOddsMinPreTrusted: 1.4,
  /** Votes on the rarer side at which both ways of measuring a peer count alike. */
  twoSidedVotes: 3,
  /** What a bad vote of a peer that votes both ways tells beyond its fitted log-odds, as a part of them. */
  badVoteGain: 0.15,
  precisionMin: 0.001,
  precisionMax: 0.999,
  /** Share of bad players: start, prior with its weight, bounds. */
  badShareStart: 0.5,
  badSharePrior: 0.2,
  badSharePriorMass: 4,
  /** What the weightiest vote on a player counts in how well the player is known: nothing, so whom one peer alone knows is left out. */
  badShareAlone: 0,
  badShareMin: 0.02,
  /** The upper bound is the share of raising mass plus a margin, between these two. */
  badShareMargin: 0.25,
  badShareCeilingMin: 0.2,
  badShareCeilingMax: 0.6,

  // Shape of the computation. Samples and `pairsMax` move values, each only in a group that meets its bound.
  /** Peers up to which sums over pairs are kept in one dense triangle. */
  densePeersMax: 1_500,
  /** Pairs kept at once, of 28 bytes each; 5,793 peers that all share players still fit. */
  pairsMax: 16_777_216,
  /** Players up to which all of them fit the log-odds, at least and per peer; beyond, a sample of about this many does. */
  sampledPlayers: 1_048_576,
  sampledPlayersPerPeer: 16_384,
  /** In such a group two peers are held against each other on about so many of the players that they share, at most. */
  gatePlayersPerPair: 2_048,
  /** And a peer's own votes are counted on about so many of its players, at most. */
  gatePlayersPerPeer: 32_768,
  /** Players that the rounds before the last `fullRounds` look at, at least and per peer. */
  firstRoundsPlayers: 131_072,
  firstRoundsPerPeer: 2_048,
  fullRounds: 3,
  /** Pairs handed to operators, at most. */
  pairsReportedMax: 100,
} as const;

/** The numbers by name, for a computation that is given others. */
export type TrustConstants = { readonly [name in keyof typeof trustConstants]: number };

/** The scoring page's own numbers, which its reference implementation is reproduced with. */
export const referenceConstants: TrustConstants = {
  ...trustConstants,
  correlationPrior: 0,
  agreementPrior: 3,
  sharedMax: 30,
  vouchesFrom: 0,
  gateReferenceMinPreTrusted: 0.05,
  corroborationFloor: 0.1,
  repeatsFrom: 1,
  priorVotes: 8,
  groupPriorPart: 0,
  groupVotesMax: Number.POSITIVE_INFINITY,
  badShareAlone: 1,
  badVoteGain: 0,
};
