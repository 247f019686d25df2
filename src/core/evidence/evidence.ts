/**
 * What one peer's decayed evidence on one player counts for, and the few functions that both the score read and the
 * computation of peer weights are made of (docs/SCORING.md). Evidence `m = b + g` is never negative.
 */
import { trustConstants } from './trust-constants.js';

const { halfSaturation, saturationMax, repeatOneSided } = trustConstants;

/** `n = 1.5 m / (m + .5)`, in [0, 1.5): what one peer counts for on one player, however much it sends. */
export function saturate(m: number): number {
  return (saturationMax * m) / (m + halfSaturation);
}

/** A mass, and the 1 that it counts as where it is more. */
const choice = Float64Array.of(0, 1);

/**
 * `n1 = min(m, 1)`, in [0, 1]: the peer's mass as one vote. Chosen without a branch, as `Math.min` has one: no
 * processor foresees which masses are above 1, and over the votes of a group its wrong guesses took longer than all
 * else.
 */
export function unit(m: number): number {
  choice[0] = m;
  return choice[+(m > 1)]!;
}

/**
 * A vote's voice or mass as it is compared with others, in single precision: sums of the same events differ in their last
 * bits by the order of arrival, and that order must not decide which vote is the heaviest.
 */
export function heaviness(vote: number): number {
  return Math.fround(vote);
}

/** Where votes go, one after the other. */
export interface VoteSpace {
  readonly peer: Uint16Array;
  /** `m = b + g`, above 0. */
  readonly mass: Float64Array;
  /** `x = b / m`, in [0, 1]: 1 is a bad vote. */
  readonly x: Float64Array;
  /** Per peer 1 where what it says is no vote, else 0. */
  readonly excluded: Uint8Array;
}

/**
 * Writes a peer's evidence on a player as a vote, at `to`. Returns where the next one goes: there again, where this is
 * none, as its peer is excluded or it has no mass.
 */
export function putVote(
  { peer, mass, x, excluded }: VoteSpace,
  to: number,
  of: number,
  lowering: number,
  raising: number,
): number {
  const m = lowering + raising;
  peer[to] = of;
  mass[to] = m;
  x[to] = lowering / m;
  return to + (+(m > 0) & ~excluded[of]!);
}

/**
 * Factor by which repeated events of a peer count: all of them where it is two-sided (`z` = 1), of their excess over
 * one event half where it only reports. `n` as `saturate` gives it.
 */
export function strength(n: number, z: number): number {
  return n > 1 ? 1 + (n - 1) * (repeatOneSided + (1 - repeatOneSided) * z) : n;
}

/** The log-odds of a probability in (0, 1). */
export function logit(p: number): number {
  return Math.log(p / (1 - p));
}
