/**
 * Stage 1 of peer trust: the gate `tau` in [0, 1] of every peer, from how it agrees with the others (scoring page,
 * "Peer trust, stage 1"). A partner counts by how far it is trusted itself, so the gate is a fixed point; one that is
 * trusted less than half vouches for nobody, or a few peers that agreed by chance would open the gates of a crowd.
 */
import type { TrustConstants } from '../trust-constants.js';
import { lowerWeightedMedian } from './median.js';
import type { Centres, Pairs } from './pair-list.js';
import type { VoteSums } from './vote-sums.js';

export interface Gate {
  readonly tau: Float64Array;
  readonly pairs: Pairs;
}

/** `preTrusted`: one byte per peer. Peers without votes move nothing and get the gate of a newcomer. */
export function openGates(votes: VoteSums, preTrusted: Uint8Array, c: TrustConstants): Gate {
  const hasPreTrusted = preTrusted.includes(1);
  const pairs = votes.pairs(centres(votes, c), preTrusted);
  const partnerMass = sumOfWeights(pairs, votes.peers);
  const sharing = partnerMass.reduce((count, mass) => count + (mass > 0 ? 1 : 0), 0);
  // Two peers that differ: nothing tells which of them is right.
  if (sharing <= c.ungatedPeersMax && !hasPreTrusted) return { tau: new Float64Array(votes.peers).fill(1), pairs };
  return { tau: settle(votes, pairs, partnerMass, preTrusted, hasPreTrusted, c), pairs };
}

/** `mu = clip(weighted median of the peers' mean votes)`, `mu_j = (sum n1 x + .5 mu) / (sum n1 + .5)`. */
function centres({ peers, volume, badVolume }: VoteSums, c: TrustConstants): Centres {
  const means: number[] = [];
  const weights: number[] = [];
  for (let j = 0; j < peers; j++) {
    if (volume[j]! === 0) continue;
    means.push(badVolume[j]! / Math.max(volume[j]!, c.massMin));
    weights.push(Math.min(volume[j]!, c.medianVoteMassMax));
  }
  const median = means.length > 0 ? lowerWeightedMedian(means, weights) : c.medianVoteMin;
  const mu = Math.min(c.medianVoteMax, Math.max(c.medianVoteMin, median));
  const own = badVolume.map((bad, j) => (bad + c.ownVotePrior * mu) / (volume[j]! + c.ownVotePrior));
  return { mu, own };
}

function sumOfWeights(pairs: Pairs, peers: number): Float64Array {
  const sums = new Float64Array(peers);
  for (let p = 0; p < pairs.count; p++) {
    sums[pairs.first[p]!]! += pairs.weight[p]!;
    sums[pairs.second[p]!]! += pairs.weight[p]!;
  }
  return sums;
}

/** `t <- (t + t') / 2` until `t'` stays within `gateSettled` of `t`, at most `gateRoundsMax` times; returns the last `t'`. */
function settle(
  votes: VoteSums,
  pairs: Pairs,
  partnerMass: Float64Array,
  preTrusted: Uint8Array,
  hasPreTrusted: boolean,
  c: TrustConstants,
): Float64Array {
  let trust = hasPreTrusted ? Float64Array.from(preTrusted) : new Float64Array(votes.peers).fill(1);
  for (let round = 1; ; round++) {
    const vouching = trust.map((t) => Math.max(0, (t - c.vouchesFrom) / (1 - c.vouchesFrom)));
    const rho = reputations(pairs, vouching, hasPreTrusted ? 0 : c.reputationPrior, c);
    const reference = gateReference(rho, partnerMass, hasPreTrusted, c);
    const next = rho.map((value, j) => (preTrusted[j] === 1 ? 1 : Math.min(1, value / reference)));
    const change = next.reduce(
      (most, t, j) => (votes.volume[j]! > 0 ? Math.max(most, Math.abs(t - trust[j]!)) : most),
      0,
    );
    if (change < c.gateSettled || round === c.gateRoundsMax) return next;
    trust = trust.map((t, j) => (t + next[j]!) / 2);
  }
}

/** `rho_j = max(0, (6 r0 + sum_k w v_k a) / (6 + sum_k w v_k))`, `v` the peers' vouching, in [0, 1]. */
function reputations(pairs: Pairs, vouching: Float64Array, prior: number, c: TrustConstants): Float64Array {
  const { count, first, second, agreement, weight } = pairs;
  const earned = new Float64Array(vouching.length).fill(c.reputationPriorMass * prior);
  const mass = new Float64Array(vouching.length).fill(c.reputationPriorMass);
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
  hasPreTrusted: boolean,
  c: TrustConstants,
): number {
  const values: number[] = [];
  const weights: number[] = [];
  for (let j = 0; j < rho.length; j++) {
    if (partnerMass[j]! === 0 || rho[j]! === 0) continue;
    values.push(rho[j]!);
    weights.push(Math.min(partnerMass[j]!, c.reputationMassMax));
  }
  const median = values.length > 0 ? lowerWeightedMedian(values, weights) : 1;
  return Math.max(c.fullGatePart * median, hasPreTrusted ? c.gateReferenceMinPreTrusted : c.gateReferenceMin);
}
