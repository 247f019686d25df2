/** Computes M: a constant, moved by the others' word about the measured players (docs/SCORING.md, "The log-odds"). */
import { logit } from '../evidence/evidence.js';
import type { TrustConstants } from '../evidence/trust-constants.js';
import type { Heard } from './weighed-votes.js';

/** `others`: per peer, its measures' weights x the probability, by others, of a bad player; `totals`: the weights. */
export function measureOdds(
  others: Float64Array,
  totals: Float64Array,
  { tau, finds }: Heard,
  preTrusted: Uint8Array,
  c: TrustConstants,
): Float64Array {
  let right = c.measureMean * c.measureMeanMass;
  let all = c.measureMeanMass;
  others.forEach((sum, j) => {
    right += tau[j]! * finds[j]! * sum;
    all += tau[j]! * finds[j]! * totals[j]!;
  });
  const mean = Math.min(c.measureMeanMax, Math.max(c.measureMeanMin, right / all));
  return others.map((sum, j) => {
    const share = (c.measurePrior * mean + sum) / (c.measurePrior + totals[j]!);
    const own = Math.min(1 - c.rateMin, Math.max(c.rateMin, share));
    const change = Math.min(c.measureUp, Math.max(-c.measureDown, logit(own) - logit(mean)));
    const odds = Math.min(c.measureOddsMax, Math.max(0, c.measureOdds + change)) * finds[j]!;
    return preTrusted[j] === 1 ? Math.max(c.measureOdds, odds) : odds;
  });
}
