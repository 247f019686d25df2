/** The methods that the quality bench compares, and the figures of each on one group. */
import type { TrustSet } from '../data/trust-set.js';
import { average, meanError, type Quality, quality, sharesCaught } from '../statistics.js';
import { betaReputation, dawidSkene, eigenTrust, majority, oracle } from './classics.js';
import type { EvidenceColumns } from './evidence-columns.js';
import type { Readings } from './readout.js';
import { countVerdicts } from './verdicts.js';

/**
 * Labels in the order of the columns. `score` is `(100 - score) / 100`, which is no calibrated probability; `pBad` is
 * one.
 */
export const methodLabels = {
  score: 'score',
  pBad: 'P(bad)',
  majority: 'majority',
  beta: 'beta',
  dawidSkene: 'Dawid-Skene',
  eigenTrust: 'EigenTrust',
  eigenTrustPre: 'EigenTrust+pre',
  oracle: 'oracle',
} as const;

export type MethodName = keyof typeof methodLabels;

export const methodNames = Object.keys(methodLabels) as MethodName[];

/** Shares of good players hit at which the share of bad players caught is measured: the points of the plot. */
export const hitShares = [0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.02, 0.03, 0.05, 0.1] as const;

export interface Measures extends Quality {
  /** Mean distance from the truth over the targets of an attack; NaN without targets. */
  readonly targetError: number;
  /**
   * Share of bad players caught by the threshold that hits as many good players as the verdict `suspicious` or worse.
   * For `score` it is the share that the verdict itself catches.
   */
  readonly caughtAsVerdict: number;
  /** Share of bad players caught if at most one good player of a thousand is hit. */
  readonly caughtAtFewHits: number;
}

export interface MethodFigures extends Measures {
  /** Share of bad players caught at each of `hitShares`. */
  readonly caughtAt: readonly number[];
}

export type FiguresByMethod = Readonly<Record<MethodName, MethodFigures>>;

/** Measures all methods. Without pre-trusted peers, EigenTrust with pre-trust equals EigenTrust without. */
export function measureAll(set: TrustSet, evidence: EvidenceColumns, readings: Readings): FiguresByMethod {
  const { truth, targets, preTrusted, adversaries } = set;
  const { caught, hit, bad } = countVerdicts(readings.verdict, truth).suspicious;
  const measure = (badness: Float64Array): MethodFigures => ({
    ...quality(badness, truth),
    targetError: meanError(badness, truth, targets),
    caughtAsVerdict: sharesCaught(badness, truth, () => [hit])[0]!,
    caughtAtFewHits: sharesCaught(badness, truth, (good) => [Math.floor(0.001 * good)])[0]!,
    caughtAt: sharesCaught(badness, truth, (good) => hitShares.map((share) => Math.floor(share * good))),
  });
  return {
    score: {
      ...measure(readings.score.map((score) => (100 - score) / 100)),
      caughtAsVerdict: caught / bad,
    },
    pBad: measure(readings.pBad),
    majority: measure(majority(evidence)),
    beta: measure(betaReputation(evidence)),
    dawidSkene: measure(dawidSkene(evidence)),
    eigenTrust: measure(eigenTrust(evidence, [])),
    eigenTrustPre: measure(eigenTrust(evidence, preTrusted)),
    oracle: measure(oracle(evidence, truth, adversaries)),
  };
}

/** Returns a record with a value for each of the names. */
export function byName<K extends string, T>(names: readonly K[], of: (name: K) => T): Record<K, T> {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<K, T>;
}

/** Returns the mean of every figure over the groups. A NaN of a group is left out. */
export function meanFigures(groups: readonly FiguresByMethod[]): FiguresByMethod {
  const { caughtAt: _, ...first } = groups[0]!.score;
  const measures = Object.keys(first) as (keyof Measures)[];
  return byName(methodNames, (method) => ({
    ...byName(measures, (measure) => average(groups.map((group) => group[method][measure]))),
    caughtAt: hitShares.map((_, i) => average(groups.map((group) => group[method].caughtAt[i]!))),
  }));
}
