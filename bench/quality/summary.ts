/** Sums up verdicts over several groups: the figures of one family together, and its worst group. */

import { average, least } from '../statistics.js';
import type { Judgement } from './judgement.js';
import { precisionOf, sumEach, type VerdictCount } from './verdicts.js';

/** Shares in [0, 1]; NaN if no group has the figure. Means weigh all groups alike. */
export interface Summary {
  readonly groups: number;
  readonly aucMean: number;
  readonly aucWorst: number;
  /** Share of bad players among all that read `untrusted` in any group. */
  readonly untrustedPrecise: number;
  /** The worst value among groups with at least `enoughUntrusted` players that read `untrusted`. */
  readonly untrustedPreciseWorst: number;
  readonly suspiciousPreciseMean: number;
  readonly suspiciousPreciseWorst: number;
  /** Share of all bad players caught, and of all good players hit. */
  readonly untrustedCaught: number;
  readonly untrustedHit: number;
  readonly suspiciousCaught: number;
  readonly suspiciousHit: number;
  /** Share of bad players caught if at most one good player of a thousand is hit. */
  readonly scoreAtFewHits: number;
  readonly oracleAtFewHits: number;
}

export const enoughUntrusted = 20;

export function summarise(groups: readonly Judgement[]): Summary {
  const aucs = groups.map(({ methods }) => methods.score.auc);
  const untrusted = groups.map(({ verdicts }) => verdicts.untrusted);
  const suspicious = groups.map(({ verdicts }) => verdicts.suspicious);
  const enough = untrusted.filter(({ caught, hit }) => caught + hit >= enoughUntrusted);
  return {
    groups: groups.length,
    aucMean: average(aucs),
    aucWorst: least(aucs),
    untrustedPrecise: untrusted.length === 0 ? Number.NaN : precisionOf(sumEach(untrusted)),
    untrustedPreciseWorst: least(enough.map(precisionOf)),
    suspiciousPreciseMean: average(suspicious.map(precisionOf)),
    suspiciousPreciseWorst: least(suspicious.map(precisionOf)),
    untrustedCaught: average(untrusted.map(caughtShare)),
    untrustedHit: average(untrusted.map(hitShare)),
    suspiciousCaught: average(suspicious.map(caughtShare)),
    suspiciousHit: average(suspicious.map(hitShare)),
    scoreAtFewHits: average(groups.map(({ methods }) => methods.score.caughtAtFewHits)),
    oracleAtFewHits: average(groups.map(({ methods }) => methods.oracle.caughtAtFewHits)),
  };
}

export function caughtShare({ caught, bad }: VerdictCount): number {
  return caught / bad;
}

export function hitShare({ hit, good }: VerdictCount): number {
  return hit / good;
}
