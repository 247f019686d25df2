/**
 * Computes the trust of every peer of a group from all evidence: one pure function with identical bits for identical
 * input. Its results are recorded and never computed again in a replay.
 */

import type { TrustConstants } from '../evidence/trust-constants.js';
import type { PeerRelation, WitnessPair } from '../relations.js';
import { weightOf } from '../tables/peer-weights.js';
import { joinCopiedLists } from './copied-lists.js';
import { openGates } from './gate.js';
import { fitLogOdds } from './log-odds.js';
import { weighCarriers } from './origin-weights.js';
import type { Pairs } from './pair-list.js';
import type { GroupVotes } from './sums/gather.js';
import type { Scratch } from './votes/scratch.js';
import { joinClones, Witnesses } from './witnesses.js';

/** Two peers that agree with each other although the group trusts neither fully. */
export interface DiscountedPair {
  readonly first: number;
  readonly second: number;
  /** Number of players that both reported; an estimate in a very large group. */
  readonly shared: number;
  /** `a`, in (0, 1]. */
  readonly agreement: number;
}

/**
 * Results per peer, indexed by number; origins and carriers have numbers, too. An excluded peer has 0 in every numeric
 * column and is its own witness.
 */
export interface PeerTrust {
  /** The gate, in [0, 1]; 0 for a peer without votes that is not pre-trusted. */
  readonly tau: Float64Array;
  /** Log-odds of a bad vote, in [0, 3.5]. */
  readonly a: Float64Array;
  /** Log-odds of a good vote, in [0, 3.5]. */
  readonly b: Float64Array;
  /** Two-sidedness, in [0, 1). */
  readonly z: Float64Array;
  /** The published weight `w = clip(tau (A + B) / 4, 0, 1)`. */
  readonly weight: Float64Array;
  /** Lowest peer of the witness group, which is the peer itself if it is alone; for a carrier, that of its origin. */
  readonly witness: Uint16Array;
  /** The group's share of bad players, in (0, 1). */
  readonly pi: number;
  /** The pairs of peers that are one witness, with the reasons. */
  readonly witnessPairs: readonly WitnessPair[];
  /** Pairs shown to operators, at most `pairsReportedMax`, the most conspicuous first. */
  readonly pairs: readonly DiscountedPair[];
}

/**
 * Computes the trust of every peer. `scratch`: memory of the votes, which no returned array shares. `relations`: the
 * operator's declarations about pairs of peers.
 */
export function computePeerTrust(
  votes: GroupVotes,
  constants: TrustConstants,
  scratch: Scratch,
  relations: readonly PeerRelation[] = [],
): PeerTrust {
  const { sums, judged, part, facts } = votes;
  const preTrusted = facts.preTrusted.map((flag, j) => (flag !== 0 && facts.excluded[j] === 0 ? 1 : 0));
  // The operator vouches for pre-trusted peers.
  const seniority = Float64Array.from(preTrusted, (flag, j) => (flag === 1 ? 1 : (facts.seniority?.[j] ?? 1)));
  const witnesses = new Witnesses(facts.excluded.length, relations);
  joinClones(witnesses, sums, constants);
  const isOrigin = new Uint8Array(preTrusted.length);
  for (const origin of facts.origins?.origins ?? []) isOrigin[origin] = 1;
  const fit = () => {
    const gate = openGates(sums, preTrusted, witnesses, seniority, isOrigin, facts.joined ?? null, constants);
    // Peers judge an origin; an origin judges no peer.
    const heard = gate.tau.map((t, j) => (isOrigin[j] === 1 ? 0 : t));
    return { gate, heard, odds: fitLogOdds(judged, sums, heard, witnesses, preTrusted, constants, scratch) };
  };
  let { gate, heard, odds } = fit();
  const found = witnesses.pairs.length;
  joinCopiedLists(witnesses, judged, part, sums, heard, odds, constants, scratch.yieldCore);
  if (witnesses.pairs.length > found) ({ gate, heard, odds } = fit());
  const counted = (values: Float64Array) => values.map((value, j) => (facts.excluded[j] === 0 ? value : 0));
  // A peer without votes is unknown: its first ones count after the next computation. A peer that only carries an
  // origin is known, and agrees with no peer.
  const isKnown = (j: number) => sums.volume[j]! > 0 || preTrusted[j] === 1 || facts.origins?.carries[j] === 1;
  const tau = counted(gate.tau).map((t, j) => (isKnown(j) ? t : 0));
  const a = counted(odds.a);
  const b = counted(odds.b);
  const weight = tau.map((t, j) => weightOf(t, a[j]!, b[j]!, constants.weightReference));
  const z = counted(odds.z);
  const witness = witnesses.numbers;
  if (facts.origins !== undefined) {
    weighCarriers({ tau, a, b, z, weight, witness }, facts.origins, facts.excluded, constants);
  }
  return {
    tau,
    a,
    b,
    z,
    weight,
    witness,
    pi: odds.pi,
    witnessPairs: witnesses.pairs,
    pairs: discountedPairs(gate.pairs, tau, isOrigin, constants),
  };
}

interface Candidate {
  readonly pair: number;
  readonly strength: number;
}

/**
 * Sorted by `w a (1 - max tau)`, which grows with the number of shared players, ties by peer number. Millions of pairs
 * may qualify: only a few are held at a time.
 */
function discountedPairs(
  pairs: Pairs,
  tau: Float64Array,
  isOrigin: Uint8Array,
  { pairReportedHalf, pairsReportedMax }: TrustConstants,
): DiscountedPair[] {
  let found: Candidate[] = [];
  let floor = 0;
  for (let pair = 0; pair < pairs.count; pair++) {
    if ((isOrigin[pairs.first[pair]!]! | isOrigin[pairs.second[pair]!]!) === 1) continue;
    const gate = Math.max(tau[pairs.first[pair]!]!, tau[pairs.second[pair]!]!);
    const n = pairs.shared[pair]!;
    const strength = (pairs.weight[pair]! * pairs.agreement[pair]! * (1 - gate) * n) / (n + pairReportedHalf);
    if (strength <= floor) continue;
    found.push({ pair, strength });
    if (found.length < 4 * pairsReportedMax) continue;
    found = strongest(found, pairsReportedMax);
    floor = found.at(-1)!.strength;
  }
  return strongest(found, pairsReportedMax).map(({ pair }) => ({
    first: pairs.first[pair]!,
    second: pairs.second[pair]!,
    shared: pairs.shared[pair]!,
    agreement: pairs.agreement[pair]!,
  }));
}

function strongest(found: readonly Candidate[], count: number): Candidate[] {
  return found.toSorted((p, q) => q.strength - p.strength || p.pair - q.pair).slice(0, count);
}
