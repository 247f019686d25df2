/** Every method that the quality bench compares, and what it measures of each on one group. */
import { peerTrustOf } from '../../src/core/trust/peer-trust.js';
import { referenceConstants } from '../../src/core/trust-constants.js';
import type { TrustSet } from '../data/trust-set.js';
import { meanError, type Quality, quality } from '../metrics.js';
import { betaReputation, dawidSkene, eigenTrust, majority, oracle } from './classics.js';
import { evidenceColumns, peerFacts, readOut } from './readout.js';

/**
 * In the order of the columns. `score` is `(100 - score) / 100`, which is no calibrated probability; `pBad` is. `reference` is
 * P(bad) with the numbers that this service's were improved from.
 */
export const methodLabels = {
  score: 'score',
  pBad: 'P(bad)',
  reference: 'reference',
  majority: 'majority',
  beta: 'beta',
  dawidSkene: 'Dawid-Skene',
  eigenTrust: 'EigenTrust',
  eigenTrustPre: 'EigenTrust+pre',
  oracle: 'oracle',
} as const;

export type MethodName = keyof typeof methodLabels;

export const methodNames = Object.keys(methodLabels) as MethodName[];

/** What an operator could use instead of this service; the oracle is out of anybody's reach. */
export const classicNames = [
  'majority',
  'beta',
  'dawidSkene',
  'eigenTrust',
  'eigenTrustPre',
] as const satisfies readonly MethodName[];

export interface Measures extends Quality {
  /** Mean distance from the truth over the targets of an attack; NaN without targets. */
  readonly targetError: number;
  /** Share of the targets on the wrong side of 0.5, where exactly 0.5 counts half; NaN without targets. */
  readonly targetsWrong: number;
}

export type MeasuresByMethod = Readonly<Record<MethodName, Measures>>;

/** EigenTrust with pre-trust is the same as without where a group has no pre-trusted peers. */
export function measureAll(set: TrustSet): MeasuresByMethod {
  const evidence = evidenceColumns(set);
  const facts = peerFacts(set);
  const readings = readOut(evidence, facts, peerTrustOf(evidence, facts));
  const reference = readOut(evidence, facts, peerTrustOf(evidence, facts, referenceConstants));
  const measure = (badness: Float64Array): Measures => ({
    ...quality(badness, set.truth),
    targetError: meanError(badness, set.truth, set.targets),
    targetsWrong: meanError(badness.map(side), set.truth, set.targets),
  });
  return {
    score: measure(readings.score.map((score) => (100 - score) / 100)),
    pBad: measure(readings.pBad),
    reference: measure(reference.pBad),
    majority: measure(majority(evidence)),
    beta: measure(betaReputation(evidence)),
    dawidSkene: measure(dawidSkene(evidence)),
    eigenTrust: measure(eigenTrust(evidence, [])),
    eigenTrustPre: measure(eigenTrust(evidence, set.preTrusted)),
    oracle: measure(oracle(evidence, set.truth)),
  };
}

function side(p: number): number {
  return p > 0.5 ? 1 : p < 0.5 ? 0 : 0.5;
}

/** The mean of every measure over groups of one kind; what is NaN in a group is left out there. */
export function meanMeasures(groups: readonly MeasuresByMethod[]): MeasuresByMethod {
  const mean = (method: MethodName, measure: keyof Measures): number =>
    average(groups.map((group) => group[method][measure]));
  return Object.fromEntries(
    methodNames.map((method) => [
      method,
      {
        auc: mean(method, 'auc'),
        accuracy: mean(method, 'accuracy'),
        brier: mean(method, 'brier'),
        targetError: mean(method, 'targetError'),
        targetsWrong: mean(method, 'targetsWrong'),
      },
    ]),
  ) as Record<MethodName, Measures>;
}

/** The mean of what is a number; NaN for nothing. */
export function average(values: readonly number[]): number {
  const numbers = values.filter((value) => !Number.isNaN(value));
  return numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
}
