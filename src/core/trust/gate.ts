/**
 * Computes stage 1 of peer trust: the gate `tau`, in [0, 1], from a peer's agreement with others (docs/SCORING.md,
 * "The gate"), each of which counts by its own: a fixed point. Peers of one witness group count as one.
 */
import type { TrustConstants } from '../evidence/trust-constants.js';
import type { Joined } from '../peers/peers.js';
import { type Centres, PairList, type Pairs } from './pair-list.js';
import type { VoteSums } from './sums/vote-sums.js';
import type { Witnesses } from './witnesses.js';

export interface Gate {
  readonly tau: Float64Array;
  readonly pairs: Pairs;
}

/** The group whose gates are computed; `preTrusted` and `isOrigin` hold one byte per peer. */
export interface GateGroup {
  readonly votes: VoteSums;
  readonly preTrusted: Uint8Array;
  readonly witnesses: Witnesses;
  readonly isOrigin: Uint8Array;
  readonly c: TrustConstants;
}

/**
 * Computes the gate of every peer. `seniority`, in [0, 1], holds the factor of each peer for its age. Peers without
 * votes have no effect. Peers vouch for an origin as they do for each other. An origin vouches for no peer, so that
 * carried events add nothing to any peer's agreement. `joined` is null if no peer is new. A new peer that earlier peers
 * contradict has a closed gate and vouches for no peer.
 */
export function openGates(group: GateGroup, seniority: Float64Array, joined: Joined | null): Gate {
  const { preTrusted, isOrigin, c } = group;
  const listed = listPairs(group, seniority);
  if (joined === null) return settled(group, seniority, listed);
  const isJudged = preTrusted.map((flag, j) => (flag === 0 && isOrigin[j] === 0 ? 1 : 0));
  const contradicted = contradictedNewcomers(listed.pairs, listed.parts, joined, isJudged, c);
  if (!contradicted.includes(1)) return settled(group, seniority, listed);
  const left = seniority.map((part, j) => (contradicted[j] === 1 ? 0 : part));
  return settled(group, left, listPairs(group, left));
}

type Listed = ReturnType<typeof listPairs>;

function listPairs({ votes, preTrusted, witnesses, isOrigin, c }: GateGroup, seniority: Float64Array) {
  // The members of a witness group that have votes count as one together.
  const heard = votersOf(votes, witnesses, isOrigin);
  const parts = seniority.map((part, j) => (isOrigin[j] === 1 ? 0 : part / Math.max(1, heard[witnesses.numbers[j]!]!)));
  const pairs = new PairList(centres(votes, parts, c), witnesses, preTrusted, c);
  votes.showPairs((j, k, sums, at) => pairs.add(j, k, sums, at));
  return { pairs, parts };
}

function settled(group: GateGroup, seniority: Float64Array, listed: Listed): Gate {
  const { votes, preTrusted, isOrigin, c } = group;
  const otherMass = sumOfWeights(listed);
  const sharing = otherMass.reduce((count, mass, j) => count + (mass > 0 && isOrigin[j] === 0 ? 1 : 0), 0);
  // If only two peers differ, nothing shows which of them is right.
  const isUngated = sharing <= c.ungatedPeersMax && !preTrusted.includes(1);
  const gates = isUngated ? new Float64Array(votes.peers).fill(1) : settle(group, listed, otherMass);
  return { tau: gates.map((gate, j) => gate * seniority[j]!), pairs: listed.pairs };
}

/** Counts the peers with votes per witness: a peer that does not report must not reduce the others' share. */
function votersOf({ peers, volume }: VoteSums, { numbers }: Witnesses, isOrigin: Uint8Array): Uint32Array {
  const voters = new Uint32Array(peers);
  for (let j = 0; j < peers; j++) voters[numbers[j]!]! += +(volume[j]! > 0 && isOrigin[j] === 0);
  return voters;
}

/** `mu = clip(weighted median of the peers' mean votes)`, `mu_j = (sum n1 x + .5 mu) / (sum n1 + .5)`. */
function centres({ peers, volume, badVolume }: VoteSums, parts: Float64Array, c: TrustConstants): Centres {
  const means: number[] = [];
  const weights: number[] = [];
  for (let j = 0; j < peers; j++) {
    if (volume[j]! === 0) continue;
    means.push(badVolume[j]! / Math.max(volume[j]!, c.massMin));
    weights.push(Math.min(volume[j]!, c.medianVoteMassMax) * parts[j]!);
  }
  const median = means.length > 0 ? lowerWeightedMedian(means, weights) : c.medianVoteMin;
  const mu = Math.min(c.medianVoteMax, Math.max(c.medianVoteMin, median));
  const own = badVolume.map((bad, j) => (bad + c.ownVotePrior * mu) / (volume[j]! + c.ownVotePrior));
  return { mu, own };
}

function sumOfWeights({ pairs, parts }: Listed): Float64Array {
  const sums = new Float64Array(parts.length);
  for (let p = 0; p < pairs.count; p++) {
    const j = pairs.first[p]!;
    const k = pairs.second[p]!;
    sums[j]! += pairs.weight[p]! * parts[k]!;
    sums[k]! += pairs.weight[p]! * parts[j]!;
  }
  return sums;
}

/** `t <- (t + t') / 2` until they differ by less than `gateSettled`, at most `gateRoundsMax` times; returns `t'`. */
function settle({ votes, preTrusted, isOrigin, c }: GateGroup, { pairs, parts }: Listed, otherMass: Float64Array) {
  const hasPreTrusted = preTrusted.includes(1);
  let trust = hasPreTrusted ? Float64Array.from(preTrusted) : new Float64Array(votes.peers).fill(1);
  for (let round = 1; ; round++) {
    const rho = reputations(pairs, trust, parts, hasPreTrusted ? 0 : c.reputationPrior, c);
    const reference = gateReference(rho, otherMass, parts, hasPreTrusted, c);
    const next = rho.map((value, j) => (preTrusted[j] === 1 ? 1 : Math.min(1, value / reference)));
    const change = next.reduce(
      (most, t, j) => (votes.volume[j]! > 0 && isOrigin[j] === 0 ? Math.max(most, Math.abs(t - trust[j]!)) : most),
      0,
    );
    if (change < c.gateSettled || round === c.gateRoundsMax) return next;
    trust = trust.map((t, j) => (t + next[j]!) / 2);
  }
}

/** `rho_j = max(0, (6 r0 + sum_k w t_k a) / (6 + sum_k w t_k))`; `w`: weight of the pair x factor of the other. */
function reputations(
  pairs: Pairs,
  trust: Float64Array,
  parts: Float64Array,
  prior: number,
  c: TrustConstants,
): Float64Array {
  const { count, first, second, agreement, weight } = pairs;
  const vouching = trust.map((t, j) => t * parts[j]!);
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

/** `ref`: half of the weighted median reputation over the peers that share players and have a reputation. */
function gateReference(
  rho: Float64Array,
  otherMass: Float64Array,
  parts: Float64Array,
  hasPreTrusted: boolean,
  c: TrustConstants,
): number {
  const values: number[] = [];
  const weights: number[] = [];
  for (let j = 0; j < rho.length; j++) {
    if (otherMass[j]! === 0 || rho[j]! === 0) continue;
    values.push(rho[j]!);
    weights.push(Math.min(otherMass[j]!, c.reputationMassMax) * parts[j]!);
  }
  const median = values.length > 0 ? lowerWeightedMedian(values, weights) : 1;
  return Math.max(c.fullGatePart * median, hasPreTrusted ? c.gateReferenceMinPreTrusted : c.gateReferenceMin);
}

/** The least value whose cumulated weight is half of the total; the caller caps weights. Throws on an empty list. */
export function lowerWeightedMedian(values: readonly number[], weights: readonly number[]): number {
  const order = values.map((_, i) => i).sort((i, k) => values[i]! - values[k]! || i - k);
  const cumulated: number[] = [];
  let total = 0;
  for (const i of order) {
    total += weights[i]!;
    cumulated.push(total);
  }
  const at = cumulated.findIndex((sum) => sum >= total / 2);
  if (at < 0) throw new Error('a median needs at least one value');
  return values[order[at]!]!;
}

/**
 * A wave of new peers that agree must not outvote a group. Returns 1 for each new peer whose reputation with its
 * elders, from the prior of the gate, is not above 0. `parts`: factors of peers. `isJudged`: 0 if never. Settles
 * in rounds, at most one a wave, as elders have elders.
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
