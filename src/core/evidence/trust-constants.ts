/** All constants of scoring (docs/SCORING.md). Published scores depend on them: a change needs figures of the bench. */

export const trustConstants = {
  // One peer on one player. Evidence `m` is the decayed mass of the peer's events about the player, in events of
  // severity 1.
  /** Evidence at which a peer reaches half of `saturationMax`. */
  halfSaturation: 0.5,
  /** Upper bound of one peer's influence on one player, however much the peer sends. */
  saturationMax: 1.5,
  /** Share of repeated events (the excess over 1) that counts for a peer that only reports. */
  repeatOneSided: 0.5,

  // Score read: from log-odds to a score.
  /** Upper bound of the other peers' combined log-odds, as a multiple of those of the pre-trusted peers. */
  preTrustClip: 1.5,
  /** Witnesses repeat one another: log-odds are divided by `max(M, 1)` to this power, for two- and one-sided ones. */
  correlation: 0.1,
  correlationOneSided: 0.3,
  /** Log-odds of being bad (with the prior) from which a player is suspicious, and the distance to untrusted. */
  suspiciousLogOdds: -0.6,
  untrustedDistance: 1.1,
  /** Least distance from the prior to suspicious, and the extra distance if no witness is two-sided. */
  suspiciousDistanceMin: 2.4,
  oneSidedDistance: 2,
  /** Share of the distance to suspicious that one peer can cover alone, for any peer and for a pre-trusted one. */
  onePeer: 0.95,
  onePreTrusted: 1.3,
  /** Log-odds of being good at which a score reaches 70. */
  trustedDistance: 2.4,
  /** Log-odds beyond `untrusted` and beyond `trusted` over which a score covers all but 1/e of the remaining scale. */
  tail: 4,
  /** A score's shift is multiplied by `massPart m^.75 <= 1` and stays within `massShift m^1.5`; `m`: gated mass. */
  massPart: 0.5,
  massShift: 5,
  /** Largest mass of one peer that counts in `m`. */
  massOfPeerMax: 3,
  /** Effective evidence at which confidence is one half. */
  confidenceHalf: 4.2,
  /** Mean of A and B from which a peer with an open gate has the published weight 1. */
  weightReference: 2,

  // Verdicts, by the score from 0 to 100.
  untrustedBelow: 20,
  /** Least number of lowering witnesses for `untrusted`, each with more than this weight. */
  untrustedWitnessesMin: 2,
  witnessWeightMin: 0.05,
  suspiciousBelow: 40,
  trustedFrom: 70,
  trustedConfidenceMin: 0.35,

  /** Smallest change of tau, A, B, z or the share of bad players that is published; any of witness groups is. */
  publishStep: 0.001,

  /** Age in days at which a peer counts in full in a group that is older (`NEW_PEER_DAYS`); 0 means at once. */
  newPeerDays: 1,
  /** Least ms between the registrations of an elder and of a new peer; peers that join together have no order. */
  elderMs: 3_000,
  /** Least sum of the factors of the elders that share players with a new peer before they judge it. */
  eldersMin: 2.5,

  /** Gate above which a peer's word leads others, and speaks for an origin that the peer carries. */
  openGate: 0.05,

  // Witness groups: peers that count as one.
  /** Clones: least number of players that two peers must share, and least share of the smaller one's players. */
  cloneSharedMin: 30,
  cloneShare: 0.7,
  /** Least share of players if the votes hardly vary, and the variance up to which that holds. */
  cloneShareUniform: 0.9,
  cloneUniformVariance: 0.02,
  /** Largest mean squared difference of their votes. */
  cloneDifferenceMax: 0.01,
  /** Copied lists: least number of players that both lower, and share of the smaller list, to examine a pair. */
  listSharedMin: 10,
  listShare: 0.5,
  /** Gated mass of the other two-sided peers, and probability of a good player, above which a player is cleared. */
  listClearedMass: 0.3,
  listClearedGood: 0.85,
  /** Least number of cleared players on the smaller list, and least share of them that the other lowers, too. */
  listMistakesMin: 10,
  listMistakesShare: 0.7,
  /** If neither is more two-sided than this, so many common players, and this share of the smaller list, join them. */
  listOnlyTwoSidedMax: 0.3,
  listOnlySharedMin: 30,
  listOnlyShare: 0.8,

  /**
   * Allied peers: least number of measured players of each and in common, least share of the smaller list, and how
   * many times what is usual for either.
   */
  alliedMin: 20,
  alliedShare: 0.4,
  alliedTimes: 2.5,

  // Stage 1: the gate tau, from pairs of peers.
  /** Bounds of the group's median vote `mu`. */
  medianVoteMin: 0.05,
  medianVoteMax: 0.5,
  /** Largest voting mass with which one peer counts in the median of votes. */
  medianVoteMassMax: 50,
  /** Number of pseudo-votes at `mu` with which a peer's own mean vote starts. */
  ownVotePrior: 0.5,
  /** Mean spread around the peers' own mean votes from which a pair counts as two-sided. */
  twoSidedSpread: 0.01,
  /** Correlation that counts as full agreement; a higher one earns no more. */
  fullAgreement: 0.2,
  /** Least product of squared spreads; it prevents a division by zero. */
  spreadProductMin: 1e-12,
  /** Number of shared players that halves a pair's agreement. */
  agreementPrior: 3,
  /** Largest number of shared players with which one pair counts. */
  sharedMax: 30,
  /** Weight of a pair that is not two-sided, relative to one that is. */
  oneSidedPart: 0.1,
  /** Largest pair weight with which one peer counts in the median of reputations. */
  reputationMassMax: 100,
  /** Weight and value of a peer's initial reputation; the value is 0 in a group with pre-trusted peers. */
  reputationPriorMass: 6,
  reputationPrior: 0.25,
  /** Share of the median reputation that opens the gate fully. */
  fullGatePart: 0.5,
  /** Least reference with pre-trusted peers, and without, where it only prevents a division by zero. */
  gateReferenceMinPreTrusted: 0.05,
  gateReferenceMin: 1e-9,
  gateRoundsMax: 30,
  /** Largest change of a gate at which the iteration ends. */
  gateSettled: 1e-4,
  /** Largest number of peers that share players at which no gate can be computed and tau is 1. */
  ungatedPeersMax: 2,

  // Both stages.
  /** Least divisor; it prevents a division by zero. */
  massMin: 1e-9,

  // Stage 2: log-odds A (of a bad vote) and B (of a good one) per peer
  rounds: 10,
  /** Gated mass of the others on a player at which they provide half of their evidence about a vote on that player. */
  othersHalf: 0.5,
  /** Rounds that determine the two-sided peers, and number of votes on the rarer side at which `z` is one half. */
  twoSidedRounds: 3,
  twoSidedVotes: 3,
  /** Share of the gated volume that must be two-sided for `z` to count in full, and largest volume of one peer. */
  twoSidedShare: 0.3,
  twoSidedVolumeMax: 50,
  /** Votes that a peer's prior (the group's own rates) weighs, and the factor for a pre-trusted peer. */
  peerPrior: 10,
  preTrustedPrior: 2,
  /** Prior of the group's own rates: recall and specificity, each with its number of votes. */
  recallPrior: 0.75,
  specificityPrior: 0.92,
  poolPrior: 40,
  /** Log-odds of a report and of praise from a peer that is not two-sided. */
  reportOdds: 1.25,
  praiseOdds: 0.4,
  /** Votes that the group's mean weighs as such a peer's prior, and bounds of the change up and down. */
  relativePrior: 20,
  relativeUp: 0.5,
  relativeDown: 2,
  /** Prior of these means: right reports (per 1 / pi), and right praise with its number of votes. */
  lowMeanRight: 1,
  badShareForMeanMin: 0.02,
  highMeanRight: 9,
  highMeanAll: 10,
  /** Own share of a peer's lowering evidence: where it counts for nothing, where in full; prior with its weight. */
  ownNone: 0.15,
  ownFull: 0.35,
  ownPrior: 0.7,
  ownPriorMass: 6,
  /**
   * A peer that bans nearly everybody says nothing: least number of players that it measures, how many times the
   * measures of all others, share of another's measures that it holds, measures from which another is asked, and least
   * number of others.
   */
  floodPlayersMin: 100,
  floodTimes: 3,
  floodShare: 0.7,
  floodMeasuresMin: 8,
  floodPeersMin: 3,
  /**
   * Log-odds of a standing measure: an independent ban makes a bad player of about six of ten unknown ones. Bounds of
   * its change down and up, its upper bound, and the measures that the group's mean weighs as a prior.
   */
  measureOdds: 3.4,
  measureDown: 3,
  measureUp: 0.5,
  measureOddsMax: 4,
  measurePrior: 15,
  /** Prior of that mean, with its weight, and its bounds. */
  measureMean: 0.1,
  measureMeanMass: 5,
  measureMeanMin: 0.01,
  measureMeanMax: 0.9,
  /** Largest difference in log-odds by which the others' word about one measured player counts. */
  measureOthersMax: 6,
  /** Rates stay between this and 1 minus this. */
  rateMin: 0.001,
  /** Upper bound of A and B, and lower bound of those of a two-sided pre-trusted peer. */
  logOddsMax: 3.5,
  logOddsMinPreTrusted: 1.4,
  /** Share of bad players: prior (`PRIOR_BAD_SHARE`) with its weight, and bounds. */
  badSharePrior: 0.04,
  badSharePriorMass: 30,
  badShareMin: 0.01,
  badShareMax: 0.6,

  // Size of the computation. Samples and `pairsMax` change results, but only in a group that reaches the bound.
  /** Largest number of peers for which sums over pairs lie in one dense triangle. */
  densePeersMax: 1_500,
  /** Largest number of pairs held at once, of 28 bytes each; 5,793 peers that all share players still fit. */
  pairsMax: 16_777_216,
  /** Largest number of pairs whose lists are compared, the most similar first. */
  listPairsMax: 4_096,
  /** Players that all take part in the fit, in total and per peer; beyond it, a sample of about this size does. */
  sampledPlayers: 1_048_576,
  sampledPlayersPerPeer: 16_384,
  /** Number of players that the rounds before the last `fullRounds` use, in total and per peer. */
  firstRoundsPlayers: 131_072,
  firstRoundsPerPeer: 2_048,
  fullRounds: 3,
  /** Pairs reported to operators at most, and shared players at which a pair's discount counts half. */
  pairsReportedMax: 100,
  pairReportedHalf: 20,
} as const;

/** The constants by name, for a computation with other values. */
export type TrustConstants = { readonly [name in keyof typeof trustConstants]: number };
