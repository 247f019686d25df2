/**
 * Provides the formulas for one peer's decayed evidence on one player (docs/SCORING.md): claims b (lower) and g
 * (raise), standing measures a; the mass is m = b + g + a, never negative.
 */
import { trustConstants } from './trust-constants.js';

const { halfSaturation, saturationMax, repeatOneSided } = trustConstants;

/** `n = 1.5 m / (m + .5)`, in [0, 1.5): the bounded evidence of one peer on one player, however much the peer sends. */
export function saturate(m: number): number {
  return (saturationMax * m) / (m + halfSaturation);
}

/** Element 0: the mass. Element 1: the upper bound 1. */
const choice = Float64Array.of(0, 1);

/**
 * `n1 = min(m, 1)`, in [0, 1]: the mass as one vote. Has no branch, which no processor can predict here:
 * mispredictions took longer than the rest of the loop over a group's votes.
 */
export function cappedMass(m: number): number {
  choice[0] = m;
  return choice[+(m > 1)]!;
}

/** Rounds to single precision for comparisons: the last bits depend on the order of arrival, which must not decide. */
export function roundForComparison(vote: number): number {
  return Math.fround(vote);
}

/** Strength of a standing measure, in [0, 1]: `min(1, 1.5 a / (a + .5))`; `a`: decayed sum of severities. */
export function measureStrength(a: number): number {
  return Math.min(1, saturate(a));
}

export const FOLLOWS = 1;
export const FOLLOWS_CLAIM = 2;

export interface VoteSpace {
  readonly peer: Uint16Array;
  /** Claims, `b + g`, not negative. */
  readonly claims: Float64Array;
  /** `x = b / (b + g)`, in [0, 1]: 1 is a bad vote; 0 if there are no claims. */
  readonly x: Float64Array;
  /** Standing measures `a`, not negative. */
  readonly measure: Float64Array;
  readonly follows: Uint8Array;
  /** Per peer: 1 if its statements are no votes, else 0. */
  readonly excluded: Uint8Array;
}

export interface EvidenceSums {
  lowering: number;
  raising: number;
  measure: number;
}

/** Writes a peer's evidence on a player as a vote, at `to`. Returns the end: `to` if the vote does not count. */
export function writeVote(
  { peer, claims, x, measure, follows, excluded }: VoteSpace,
  to: number,
  of: number,
  sums: EvidenceSums,
  bits: number,
): number {
  const c = sums.lowering + sums.raising;
  peer[to] = of;
  claims[to] = c;
  x[to] = c > 0 ? sums.lowering / c : 0;
  measure[to] = sums.measure;
  follows[to] = bits;
  return to + (+(c + sums.measure > 0) & ~excluded[of]!);
}

/** Lowering share of all evidence of a vote, in [0, 1], from its claims `c`, their share `x` and its measures `a`. */
export function loweringShare(c: number, x: number, a: number): number {
  return a > 0 ? (c * x + a) / (c + a) : x;
}

/** Factor for repeated events: if a peer only reports, half of the excess of `n` (of `saturate`) over 1 counts. */
export function strength(n: number, z: number): number {
  return n > 1 ? 1 + (n - 1) * (repeatOneSided + (1 - repeatOneSided) * z) : n;
}

/** Log-odds of a probability in (0, 1). */
export function logit(p: number): number {
  return Math.log(p / (1 - p));
}
