/**
 * Stage 1 of peer trust: the gate `tau` in [0, 1] of every peer, from how it agrees with the others (docs/SCORING.md, "The gate"). A partner counts by
 * how far it is trusted itself, so the gate is a fixed point. The peers of one witness group say nothing about each other, and count as one.
 */
import type { TrustConstants } from '../trust-constants.js';
import { lowerWeightedMedian } from './median.js';
import { type Centres, PairList, type Pairs } from './pair-list.js';
import type { VoteSums } from './vote-sums.js';
import type { Witnesses } from './witnesses.js';

export interface Gate {
  readonly tau: Float64Array;
  readonly pairs: Pairs;
}

/** `preTrusted`: one byte per peer. Peers without votes move nothing. */
export function openGates(votes: VoteSums, preTrusted: Uint8Array, witnesses: Witnesses, c: TrustConstants): Gate {
  const hasPreTrusted = preTrusted.includes(1);
  const { sizes } = witnesses;
  const pairs = new PairList(centres(votes, sizes, c), witnesses, preTrusted, c);
  votes.showPairs(pairs);
  const partnerMass = sumOfWeights(pairs, sizes);
  const sharing = partnerMass.reduce((count, mass) => count + (mass > 0 ? 1 : 0), 0);
  // Two peers that differ: nothing tells which of them is right.
  if (sharing <= c.ungatedPeersMax && !hasPreTrusted) return { tau: new Float64Array(votes.peers).fill(1), pairs };
  return { tau: settle(votes, pairs, partnerMass, sizes, preTrusted, hasPreTrusted, c), pairs };
}

/** `mu = clip(weighted median of the peers' mean votes)`, `mu_j = (sum n1 x + .5 mu) / (sum n1 + .5)`. */
function centres({ peers, volume, badVolume }: VoteSums, sizes: Uint16Array, c: TrustConstants): Centres {
  const means: number[] = [];
  const weights: number[] = [];
  for (let j = 0; j < peers; j++) {
    if (volume[j]! === 0) continue;
    means.push(badVolume[j]! / Math.max(volume[j]!, c.massMin));
    weights.push(Math.min(volume[j]!, c.medianVoteMassMax) / sizes[j]!);
  }
  const median = means.length > 0 ? lowerWeightedMedian(means, weights) : c.medianVoteMin;
  const mu = Math.min(c.medianVoteMax, Math.max(c.medianVoteMin, median));
  const own = badVolume.map((bad, j) => (bad + c.ownVotePrior * mu) / (volume[j]! + c.ownVotePrior));
  return { mu, own };
}

/** Per peer the weight of its pairs, each shared among the witness group of the partner. */
function sumOfWeights(pairs: Pairs, sizes: Uint16Array): Float64Array {
  const sums = new Float64Array(sizes.length);
  for (let p = 0; p < pairs.count; p++) {
    const j = pairs.first[p]!;
    const k = pairs.second[p]!;
    sums[j]! += pairs.weight[p]! / sizes[k]!;
    sums[k]! += pairs.weight[p]! / sizes[j]!;
  }
  return sums;
}

/** `t <- (t + t') / 2` until `t'` stays within `gateSettled` of `t`, at most `gateRoundsMax` times; returns the last `t'`. */
function settle(
  votes: VoteSums,
  pairs: Pairs,
  partnerMass: Float64Array,
  sizes: Uint16Array,
  preTrusted: Uint8Array,
  hasPreTrusted: boolean,
  c: TrustConstants,
): Float64Array {
  let trust = hasPreTrusted ? Float64Array.from(preTrusted) : new Float64Array(votes.peers).fill(1);
  for (let round = 1; ; round++) {
    const rho = reputations(pairs, trust, sizes, hasPreTrusted ? 0 : c.reputationPrior, c);
    const reference = gateReference(rho, partnerMass, sizes, hasPreTrusted, c);
    const next = rho.map((value, j) => (preTrusted[j] === 1 ? 1 : Math.min(1, value / reference)));
    const change = next.reduce(
      (most, t, j) => (votes.volume[j]! > 0 ? Math.max(most, Math.abs(t - trust[j]!)) : most),
      0,
    );
    if (change < c.gateSettled || round === c.gateRoundsMax) return next;
    trust = trust.map((t, j) => (t + next[j]!) / 2);
  }
}

/** `rho_j = max(0, (6 r0 + sum_k w t_k a) / (6 + sum_k w t_k))`, `w` the pair's weight by the size of the partner's group. */
function reputations(
  pairs: Pairs,
  trust: Float64Array,
  sizes: Uint16Array,
  prior: number,
  c: TrustConstants,
): Float64Array {
  const { count, first, second, agreement, weight } = pairs;
  const vouching = trust.map((t, j) => t / sizes[j]!);
  const earned = new Float64Array(trust.length).fill(c.reputationPriorMass * prior);
  const mass = new Float64Array(trust.length).fill(c.reputationPriorMass);
  for (let p = 0; p < count; p++) {
    const j = first[p]!;
    const k = second[p]!;
    const toJ = weight[p]! * vouching[k]!;
    const toK = weight[p]! * vouching[j]!;
    earned[j]! += toJ * agreement[p]!;
    earned[k]! += toK * agreement[p]!;
    mass[j]! += toJ;
    mass[k]! += toK;
  }
  return earned.map((value, j) => Math.max(0, value / mass[j]!));
}

/** `ref`: half of the weighted median reputation over peers that share players and have any. */
function gateReference(
  rho: Float64Array,
  partnerMass: Float64Array,
  sizes: Uint16Array,
  hasPreTrusted: boolean,
  c: TrustConstants,
): number {
  const values: number[] = [];
  const weights: number[] = [];
  for (let j = 0; j < rho.length; j++) {
    if (partnerMass[j]! === 0 || rho[j]! === 0) continue;
    values.push(rho[j]!);
    weights.push(Math.min(partnerMass[j]!, c.reputationMassMax) / sizes[j]!);
  }
  const median = values.length > 0 ? lowerWeightedMedian(values, weights) : 1;
  return Math.max(c.fullGatePart * median, hasPreTrusted ? c.gateReferenceMinPreTrusted : c.gateReferenceMin);
}
