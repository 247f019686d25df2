/** Sums up verdicts over several groups: the figures of one family together, and its worst group. */
import { average, least } from '../statistics.js';
import type { Judgement } from './judgement.js';
import { precisionOf, sumEach, type VerdictCount } from './verdicts.js';

/** The worst precision of `untrusted` is that of groups with at least so many such players. */
const enoughUntrusted = 20;

export type Summary = ReturnType<typeof summarise>;

/** Returns shares in [0, 1]; NaN if no group has the figure. Means weigh all groups alike. */
export function summarise(groups: readonly Judgement[]) {
  const aucs = groups.map(({ methods }) => methods.score.auc);
  const untrusted = groups.map(({ verdicts }) => verdicts.untrusted);
  const suspicious = groups.map(({ verdicts }) => verdicts.suspicious);
  const enough = untrusted.filter(({ caught, hit }) => caught + hit >= enoughUntrusted);
  return {
    groups: groups.length,
    aucMean: average(aucs),
    aucWorst: least(aucs),
    // The share of bad players among all that read `untrusted` in any group.
    untrustedPrecise: untrusted.length === 0 ? Number.NaN : precisionOf(sumEach(untrusted)),
    untrustedPreciseWorst: least(enough.map(precisionOf)),
    suspiciousPreciseMean: average(suspicious.map(precisionOf)),
    suspiciousPreciseWorst: least(suspicious.map(precisionOf)),
    untrustedCaught: average(untrusted.map(caughtShare)),
    untrustedHit: average(untrusted.map(hitShare)),
    suspiciousCaught: average(suspicious.map(caughtShare)),
    suspiciousHit: average(suspicious.map(hitShare)),
    // The shares caught if at most one good player of a thousand is hit.
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
