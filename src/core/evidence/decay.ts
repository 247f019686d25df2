/**
 * Computes decay as forward decay (Cormode et al., ICDE 2009): a new mass is scaled up once, from the epoch to its
 * time, so that one addition adds it and one factor decays every sum to any time.
 */
import { DAY_MS, limits } from '../../limits.js';

const MINUTE_MS = 60_000;

/** Half-lives beyond which a factor no longer changes: a double holds nothing smaller, and nothing may overflow. */
const HALF_LIVES_MAX = 1000;

/** Half-lives from `epoch` to `at`; 0 if decay is off. */
function halfLives(at: number, epoch: number, halfLifeDays: number): number {
  return halfLifeDays === 0 ? 0 : (at - epoch) / (halfLifeDays * DAY_MS);
}

function bounded(lives: number): number {
  return Math.min(HALF_LIVES_MAX, Math.max(-HALF_LIVES_MAX, lives));
}

function powerOfTwo(lives: number): number {
  return 2 ** bounded(lives);
}

/** The time as of which a read in the minute of `at` evaluates; entries of the allow list end at such a time. */
export function endOfMinute(at: number): number {
  return Math.ceil(at / MINUTE_MS) * MINUTE_MS;
}

/** Time from which evidence decays, in ms since 1970: the time of the event, but never later than its receipt. */
export function evidenceAt(timestamp: number, receivedAt: number): number {
  return Math.min(timestamp, receivedAt);
}

export function scaleAt(at: number, epoch: number, halfLifeDays: number): number {
  return powerOfTwo(halfLives(at, epoch, halfLifeDays));
}

export function decayFactorAt(at: number, epoch: number, halfLifeDays: number): number {
  return powerOfTwo(-halfLives(at, epoch, halfLifeDays));
}

/** Upper bound of one peer's evidence on a player: the epoch moves before a sum reaches 2^256 events. */
const SUM_MAX = 2 ** 300;
/** Upper bound of a decayed sum, so far below the largest double that everything a read adds up stays finite. */
const DECAYED_MAX = 2 ** 900;

/** Converts a sum to another scale. Bounded: half-lives may change again and again while the clock is set back. */
export function rescaled(sum: number, factor: number): number {
  return Math.min(sum * factor, SUM_MAX);
}

export function decayed(sum: number, decayFactor: number): number {
  return Math.min(sum * decayFactor, DECAYED_MAX);
}

/**
 * Returns the epoch needed to scale evidence of `at`; null if `at` is near enough to the present one. It moves by
 * whole half-lives, so that the factor is an exact power of two.
 */
export function movedEpoch(at: number, epoch: number, halfLifeDays: number): { epoch: number; factor: number } | null {
  const lives = Math.floor(halfLives(at, epoch, halfLifeDays));
  if (lives <= limits.epochHalfLivesMax) return null;
  return { epoch: epoch + lives * halfLifeDays * DAY_MS, factor: powerOfTwo(-lives) };
}

/** Scale of sums of evidence: their epoch (ms since 1970) and the half-life. */
export interface Scale {
  readonly epoch: number;
  readonly halfLifeDays: number;
}

export interface Scales extends Scale {
  readonly measureScale: Scale;
}

export interface AsOf {
  readonly at: number;
  readonly decayFactor: number;
  readonly measureFactor: number;
}

export function asOfTime({ epoch, halfLifeDays, measureScale }: Scales, at: number): AsOf {
  return {
    at,
    decayFactor: decayFactorAt(at, epoch, halfLifeDays),
    measureFactor: decayFactorAt(at, measureScale.epoch, measureScale.halfLifeDays),
  };
}

/** Decay factor for claims. A read never counts as earlier than the newest evidence: a late clock inflates none. */
export function decayFactorFor(state: Scale, evidenceAt: number, asOf: AsOf): number {
  return evidenceAt > asOf.at ? decayFactorAt(evidenceAt, state.epoch, state.halfLifeDays) : asOf.decayFactor;
}

export function measureFactorFor({ measureScale }: Scales, evidenceAt: number, asOf: AsOf): number {
  if (evidenceAt <= asOf.at) return asOf.measureFactor;
  return decayFactorAt(evidenceAt, measureScale.epoch, measureScale.halfLifeDays);
}

/** Age in half-lives beyond which an event counts for nothing: most often its time is wrong, such as seconds. */
const COUNTED_HALF_LIVES = 20;

export function isTooOld(at: number, now: number, halfLifeDays: number): boolean {
  return halfLives(now, at, halfLifeDays) > COUNTED_HALF_LIVES;
}

/**
 * Returns the mass, as a measure, of a ban that has a `mass` on the scale of claims and decays from `at`. Without
 * `Math.pow`, whose last bits differ by platform: a replay computes it.
 */
export function measureOfClaim(mass: number, at: number, claims: Scale, measures: Scale): number {
  const livesOf = ({ epoch, halfLifeDays }: Scale) => bounded(halfLives(at, epoch, halfLifeDays));
  // Each bounded first, as the masses of either scale are.
  return mass * exactPowerOfTwo(bounded(livesOf(measures) - livesOf(claims)));
}

/** 2 to the power of `lives` from +, -, x and / alone; the error is below 1e-14. */
function exactPowerOfTwo(lives: number): number {
  const whole = Math.floor(lives);
  const exponent = (lives - whole) * Math.LN2;
  let term = 1;
  let sum = 1;
  for (let n = 1; n <= 18; n++) {
    term *= exponent / n;
    sum += term;
  }
  for (let n = Math.abs(whole); n > 0; n--) sum *= whole < 0 ? 0.5 : 2;
  return sum;
}
