/**
 * Forward decay by half-life (Cormode et al., "Forward Decay", ICDE 2009): mass is scaled up by how much later than the
 * epoch its moment is, so that one addition takes an event in, and one factor brings every sum to its worth at a moment
 * (scoring page, "State and reads").
 */
import { DAY_MS, limits } from '../../limits.js';

/** Half-lives beyond which a factor stays what it is there: nothing of a double is left, and nothing may overflow. */
const HALF_LIVES_MAX = 1000;

/** Half-lives from `epoch` to `at`; 0 where decay is off. */
function halfLives(at: number, epoch: number, halfLifeDays: number): number {
  return halfLifeDays === 0 ? 0 : (at - epoch) / (halfLifeDays * DAY_MS);
}

/** 2 to the power of so many half-lives, always finite. */
function powerOfTwo(lives: number): number {
  return 2 ** Math.min(HALF_LIVES_MAX, Math.max(-HALF_LIVES_MAX, lives));
}

/** From when evidence decays, ms since 1970: from what happened, but never from a moment that had not come. */
export function evidenceAt(timestamp: number, receivedAt: number): number {
  return Math.min(timestamp, receivedAt);
}

/** What mass that arises at `at` is multiplied by. Computed once, in `decide`, and carried by the record. */
export function scaleAt(at: number, epoch: number, halfLifeDays: number): number {
  return powerOfTwo(halfLives(at, epoch, halfLifeDays));
}

/** What a sum is multiplied by to have its worth at `at`. */
export function decayFactorAt(at: number, epoch: number, halfLifeDays: number): number {
  return powerOfTwo(-halfLives(at, epoch, halfLifeDays));
}

/**
 * More than any peer's evidence on a player comes to, on any scale: an event counts for about one, and the epoch moves
 * before 2^256 of them.
 */
const SUM_MAX = 2 ** 300;
/** As far from where doubles end as all that reads add up. */
const DECAYED_MAX = 2 ** 900;

/**
 * A sum of evidence on another scale. Bounded, as `worthOf` is: half-lives that change again and again while the clock
 * is set back would make it grow to infinity, and then to NaN.
 */
export function rescaled(sum: number, factor: number): number {
  return Math.min(sum * factor, SUM_MAX);
}

/** A sum of evidence at the moment of `decayFactor`. */
export function decayed(sum: number, decayFactor: number): number {
  return Math.min(sum * decayFactor, DECAYED_MAX);
}

/**
 * How the epoch moves before evidence at `at` can be scaled: by whole half-lives, so that the factor is an exact power
 * of two. Null while `at` is near enough.
 */
export function movedEpoch(at: number, epoch: number, halfLifeDays: number): { epoch: number; factor: number } | null {
  const lives = Math.floor(halfLives(at, epoch, halfLifeDays));
  if (lives <= limits.epochHalfLivesMax) return null;
  return { epoch: epoch + lives * halfLifeDays * DAY_MS, factor: powerOfTwo(-lives) };
}

/** The scale of sums of evidence: the epoch (ms since 1970) to which they are scaled, and the half-life. */
export interface Scale {
  readonly epoch: number;
  readonly halfLifeDays: number;
}

/** The moment of a read, with the factor that brings sums to their worth at it. */
export interface AsOf {
  readonly at: number;
  readonly decayFactor: number;
}

export function asOfTime(state: Scale, at: number): AsOf {
  return { at, decayFactor: decayFactorAt(at, state.epoch, state.halfLifeDays) };
}

/**
 * The worth of a subject's evidence, the newest of which is of `evidenceAt`. A clock that was set back inflates
 * nothing: a read is never before the newest evidence.
 */
export function decayFactorFor(state: Scale, evidenceAt: number, asOf: AsOf): number {
  return evidenceAt > asOf.at ? decayFactorAt(evidenceAt, state.epoch, state.halfLifeDays) : asOf.decayFactor;
}
