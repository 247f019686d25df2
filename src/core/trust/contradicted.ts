/**
 * Finds new peers that their elders contradict (docs/SCORING.md, "The gate"), earlier peers that are not contradicted
 * themselves. Otherwise a wave of new peers that agree outvotes a group.
 */
import type { TrustConstants } from '../evidence/trust-constants.js';
import type { Joined } from '../peers/peers.js';
import type { Pairs } from './pair-list.js';

/**
 * Returns 1 for each new peer whose reputation with its elders, from the prior of the gate, is not above 0. `parts`:
 * factors of peers. `isJudged`: 0 if never. Settles in rounds, at most one a wave, as elders have elders.
 */
export function contradictedNewcomers(
  pairs: Pairs,
  parts: Float64Array,
  { at, newSince }: Joined,
  isJudged: Uint8Array,
  c: TrustConstants,
): Uint8Array {
  let contradicted: Uint8Array = new Uint8Array(parts.length);
  for (let round = 0; round < c.gateRoundsMax; round++) {
    const next = judged(pairs, parts, at, contradicted, c);
    for (let j = 0; j < next.length; j++) if (isJudged[j] === 0 || at[j]! <= newSince) next[j] = 0;
    const isSettled = next.every((flag, j) => flag === contradicted[j]);
    contradicted = next;
    if (isSettled) break;
  }
  return contradicted;
}

/** Computes one round, in which peers that were contradicted in the last one do not judge. */
function judged(
  { count, first, second, agreement, weight }: Pairs,
  parts: Float64Array,
  at: Float64Array,
  contradicted: Uint8Array,
  c: TrustConstants,
): Uint8Array {
  const earned = new Float64Array(parts.length).fill(c.reputationPriorMass * c.reputationPrior);
  const elders = new Float64Array(parts.length);
  for (let p = 0; p < count; p++) {
    const isFirstElder = at[first[p]!]! <= at[second[p]!]!;
    const elder = isFirstElder ? first[p]! : second[p]!;
    const newer = isFirstElder ? second[p]! : first[p]!;
    if (contradicted[elder] === 1 || !(at[elder]! + c.elderMs <= at[newer]!)) continue;
    earned[newer]! += weight[p]! * parts[elder]! * agreement[p]!;
    elders[newer]! += parts[elder]!;
  }
  return Uint8Array.from(earned, (value, j) => (elders[j]! >= c.eldersMin && value <= 0 ? 1 : 0));
}
