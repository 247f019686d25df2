/**
 * Every number of scoring (docs/SCORING.md), stated once: what a read uses, and what the computation of peer weights
 * uses. Published scores depend on all of them; changing one is a decision that needs figures of the quality bench.
 */

export const trustConstants = {
  // One peer about one player. Evidence `m` is the decayed mass of its events about the player, in events of severity
  // 1.
  /** Evidence at which the word of a peer has reached half of `saturationMax`. */
  halfSaturation: 0.5,
  /** What one peer counts for on one player, however much it sends. */
  saturationMax: 1.5,
  /**
   * Part of what repeated events add (the excess over 1) that a peer has which only reports. A two-sided peer has all
   * of it.
   */
  repeatOneSided: 0.5,

  // Read: from log-odds to a score
  /** The log-odds of the other peers together stay within this many times those of the pre-trusted peers. */
  preTrustClip: 1.5,
  /**
   * Witnesses repeat one another: log-odds are divided by `max(M, 1)` to this power, with two-sided witnesses and with
   * one-sided ones.
   */
  correlation: 0.1,
  correlationOneSided: 0.3,
  /**
   * Log-odds of being bad, the prior included, from which a player is suspicious, and how much further on it is
   * untrusted.
   */
  suspiciousLogOdds: -0.6,
  untrustedDistance: 1.1,
  /** Least distance from the prior to suspicious, and what is added to it where no witness is two-sided. */
  suspiciousDistanceMin: 2.4,
  oneSidedDistance: 2,
  /** Part of the distance to suspicious that one peer can cover alone: any peer, and a pre-trusted one. */
  onePeer: 0.95,
  onePreTrusted: 1.3,
  /** Log-odds of being good at which a score reaches 70. */
  trustedDistance: 2.4,
  /**
   * Log-odds beyond `untrusted` and beyond `trusted` within which a score covers all but 1/e of what is left of the
   * scale.
   */
  tail: 4,
  /**
   * A shift of the score counts by `massPart m^.75`, at most 1, and stays within `massShift m^1.5` points; `m` is the
   * gated mass of events.
   */
  massPart: 0.5,
  massShift: 5,
  /** Mass of one peer that counts in `m`, at most. */
  massOfPeerMax: 3,
  /** Effective evidence at which confidence is one half. */
  confidenceHalf: 4.2,
  /** Mean of A and B from which a peer with an open gate has the published weight 1. */
  weightReference: 2,

  // Verdicts, by the score from 0 to 100
  untrustedBelow: 20,
  /** Witnesses that must lower for `untrusted`, each of more than this weight. */
  untrustedWitnessesMin: 2,
  witnessWeightMin: 0.05,
  suspiciousBelow: 40,
  trustedFrom: 70,
  trustedConfidenceMin: 0.35,

  /**
   * Published weights are replaced where tau, A, B, z or the share of bad players moved by more than this, or a witness
   * group changed.
   */
  publishStep: 0.001,

  /** Days after which a peer counts in full in a group that is older (`NEW_PEER_DAYS`); 0: at once. */
  newPeerDays: 1,
  /** A peer may contradict a new one that joined so many ms later; peers that join together have no order. */
  elderMs: 1_000,
  /** Such peers, by how much of a peer each counts, that must share players with a new one before they judge it. */
  eldersMin: 2.5,

  // Witness groups: peers that count as one
  /** Clones: players that two peers must share, as a number and as a part of the players of the smaller one. */
  cloneSharedMin: 30,
  cloneShare: 0.7,
  /** The part where the votes hardly vary, up to this variance. */
  cloneShareUniform: 0.9,
  cloneUniformVariance: 0.02,
  /** Largest mean squared difference of their votes. */
  cloneDifferenceMax: 0.01,
  /**
   * Copied lists: players that both lower, as a number and as a part of the smaller list, for a pair to be looked at.
   */
  listSharedMin: 10,
  listShare: 0.5,
  /**
   * A player counts as cleared by the two-sided others where their gated mass and the probability of a good player
   * exceed these.
   */
  listClearedMass: 0.3,
  listClearedGood: 0.85,
  /** Cleared players that the smaller list must hold, and the part of them that the other must lower, too. */
  listMistakesMin: 10,
  listMistakesShare: 0.7,
  /**
   * Where neither peer is more two-sided than this, a shared list alone joins them: so many players, such a part of the
   * smaller list.
   */
  listOnlyTwoSidedMax: 0.3,
  listOnlySharedMin: 30,
  listOnlyShare: 0.8,

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
  /** Shared players that pull a pair's agreement half-way to 0. */
  agreementPrior: 3,
  /** Shared players with which one pair counts, at most. */
  sharedMax: 30,
  /** What a pair that is not two-sided counts, as a part of one that is. */
  oneSidedPart: 0.1,
  /** Pair weight with which one peer counts in the median of reputations, at most. */
  reputationMassMax: 100,
  /** Weight and value of the reputation that a peer starts from; the value is 0 in a group with pre-trusted peers. */
  reputationPriorMass: 6,
  reputationPrior: 0.25,
  /** The part of the median reputation that opens the gate fully. */
  fullGatePart: 0.5,
  /**
   * The least reference in a group with pre-trusted peers, and in one without (there only against a division by zero).
   */
  gateReferenceMinPreTrusted: 0.05,
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
  /** Gated mass of the others on a player at which they tell half of what they can tell about a vote on it. */
  othersHalf: 0.5,
  /** Rounds in which it settles who is two-sided; votes on the rarer side at which `z` is one half. */
  twoSidedRounds: 3,
  twoSidedVotes: 3,
  /**
   * Share of the group's gated volume that must be two-sided for `z` to count in full, and volume with which one peer
   * counts in it, at most.
   */
  twoSidedShare: 0.3,
  twoSidedVolumeMax: 50,
  /**
   * Votes that the group's own rates weigh as the prior of a peer; a pre-trusted peer has `preTrustedPrior` times as
   * many.
   */
  peerPrior: 10,
  preTrustedPrior: 2,
  /** Prior of the group's own rates: recall and specificity, each with so many votes. */
  recallPrior: 0.75,
  specificityPrior: 0.92,
  poolPrior: 40,
  /** Log-odds of a report and of praise by a peer that is not two-sided. */
  reportOdds: 1.25,
  praiseOdds: 0.4,
  /**
   * Votes with which the group's mean is the prior of such a peer, and by how much it may move its log-odds up and
   * down.
   */
  relativePrior: 20,
  relativeUp: 0.5,
  relativeDown: 2,
  /** Prior of these means: right reports of all (per 1 / pi), right praise of so much. */
  lowMeanRight: 1,
  badShareForMeanMin: 0.02,
  highMeanRight: 9,
  highMeanAll: 10,
  /** Rates stay within this and 1 less this. */
  rateMin: 0.001,
  /** Upper bound of A and B, and the floor of those of a two-sided pre-trusted peer. */
  logOddsMax: 3.5,
  logOddsMinPreTrusted: 1.4,
  /** The share of bad players: prior (`PRIOR_BAD_SHARE`) with its weight, and bounds. */
  badSharePrior: 0.04,
  badSharePriorMass: 30,
  badShareMin: 0.01,
  badShareMax: 0.6,

  // Shape of the computation. Samples and `pairsMax` move values, each only in a group that meets its bound.
  /** Peers up to which sums over pairs are kept in one dense triangle. */
  densePeersMax: 1_500,
  /** Pairs kept at once, of 28 bytes each; 5,793 peers that all share players still fit. */
  pairsMax: 16_777_216,
  /** Pairs whose lists are compared, the most alike first. */
  listPairsMax: 4_096,
  /**
   * Players up to which all of them fit the log-odds, at least and per peer; beyond, a sample of about this many does.
   */
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
  /** Pairs handed to operators, at most, and shared players at which a pair's discount counts half. */
  pairsReportedMax: 100,
  pairReportedHalf: 20,
} as const;

/** The numbers by name, for a computation that is given others. */
export type TrustConstants = { readonly [name in keyof typeof trustConstants]: number };
