/**
 * The numbers of the fit of peer weights, stated a second time: those of the scoring page and its reference in numpy, and what a
 * node has instead by a decision of its own. None is taken from the service, so that one that is changed there by mistake shows.
 */

/** The scoring page's, which `reference/golden.json` was made with. */
export const pageNumbers = {
  // Votes
  /** `n = 1.5 m / (m + .5)` */
  saturation: 1.5,
  halfSaturation: 0.5,
  // Stage 1
  /** `mu` is a median weighted by `min(sum n1, 50)`, within .05 and .5. */
  muMass: 50,
  muLeast: 0.05,
  muMost: 0.5,
  /** `mu_j = (sum n1 x + .5 mu) / (sum n1 + .5)` */
  ownMass: 0.5,
  /** `max(V V', 1e-12)` in the reference: against a division by nothing. */
  leastSpread: 1e-12,
  /** two-sided: `D2 > .01 n` */
  twoSided: 0.01,
  /** `a = clip(a n / (n + shrunk) / .2, -1, 1) n / (n + 3)`: the page shrinks after the clip alone. */
  shrunkBefore: 0,
  fullAgreement: 0.2,
  shrunkAfter: 3,
  /** `w = min(n, 30)`, of which a pair that is not two-sided counts a tenth. */
  pairMass: 30,
  oneSidedPart: 0.1,
  /** `rho = (6 r0 + ...) / (6 + ...)`, `r0 = .25` where nobody is pre-trusted. */
  rhoMass: 6,
  rhoAtFirst: 0.25,
  /** A partner counts by `max(0, (t - v) / (1 - v))`; on the page by `t`. */
  vouchesFrom: 0,
  /** `ref` is half of the median weighted by `min(sum w, 100)`, at least .05 with pre-trust. */
  refPart: 0.5,
  refMass: 100,
  refLeast: 1e-9,
  refLeastPreTrusted: 0.05,
  gateRounds: 30,
  gateSettled: 1e-4,
  // Stage 2
  rounds: 10,
  /** `om = n1 (R + .1) / (R + .5)`, without the .1 up to two peers. */
  uncorroborated: 0.1,
  halfCorroborated: 0.5,
  /** `deff = max(M / from, 1)^.25` */
  repeatsFrom: 1,
  /** `pimax = clip(G / (B + G) + .25, .2, .6)`, `pi = clip((sum c q + .8) / (sum c + 4), .02, pimax)` */
  badAtFirst: 0.5,
  badMargin: 0.25,
  badCeilingLeast: 0.2,
  badCeilingMost: 0.6,
  badMass: 4,
  badPrior: 0.2,
  badLeast: 0.02,
  /** Of the weightiest vote on a player, what is left out of `M` in `c = M / (M + 1)`. */
  leftOut: 0,
  /** `k` and `a0`: votes and log-odds that a peer starts from; those of rates by player, then of rates by vote. */
  hitMass: 8,
  voteMass: 8,
  oddsAtFirst: 1.4,
  massPreTrusted: 20,
  oddsPreTrusted: 2.2,
  /** How far `a0` of the rates by player leans towards the group's own, which begin with 20 votes. */
  groupPart: 0,
  groupMass: 20,
  /** Votes that count of a peer at most, in the group's rates and in `B` and `G`. */
  groupVotes: Number.POSITIVE_INFINITY,
  /** `z = two / (two + 3)` */
  twoWays: 3,
  rateLeast: 0.001,
  /** A and B lie in [0, 3.5], those of the pre-trusted from 1.4. */
  oddsMost: 3.5,
  oddsLeastPreTrusted: 1.4,
  /** `A` grows by so much of itself, times `z`, after the last round. */
  sharper: 0,
};

export type FitNumbers = Readonly<typeof pageNumbers>;

/** A node's own: the page's, but for what decisions 100 to 107 changed. */
export const nodeNumbers: FitNumbers = {
  ...pageNumbers,
  // Decision 100
  vouchesFrom: 0.5,
  refLeastPreTrusted: 0.3,
  // Decision 101
  shrunkBefore: 20,
  shrunkAfter: 0,
  // Decision 102
  repeatsFrom: 2,
  // Decision 103
  groupPart: 0.5,
  groupVotes: 100,
  hitMass: 16,
  // Decision 104
  uncorroborated: 0.15,
  // Decision 105
  sharper: 0.15,
  // Decision 106; that of a peer's own votes only corroborated ones count in the group's rates has no number.
  leftOut: 1,
  // Decision 107
  pairMass: 10,
};
