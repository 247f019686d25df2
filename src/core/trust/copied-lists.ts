/**
 * Peers that carry one list: what one of them lowered by mistake, the other lowered as well (docs/SCORING.md, "Witness groups"). Mistakes are told
 * by the peers that cannot belong to them. Where neither peer is two-sided a shared list is enough.
 */
import { logit, unit } from '../evidence.js';
import { sigmoid } from '../sigmoid.js';
import type { TrustConstants } from '../trust-constants.js';
import { inBlocks } from './blocks.js';
import type { LogOdds } from './log-odds.js';
import { BOTH_LOWER, MIDDLE, type PairVisitor } from './pair-sums.js';
import type { VoteSums } from './vote-sums.js';
import type { Votes } from './votes.js';
import type { Witnesses } from './witnesses.js';

/** Two peers whose lists are compared. */
interface Candidate {
  readonly first: number;
  readonly second: number;
  /** The one with the smaller list, and the other. */
  readonly smaller: number;
  readonly larger: number;
  /** Players that both lower, and the part of the smaller list that they are. */
  readonly shared: number;
  readonly share: number;
  /** Players of the smaller list that the rest clears, and those of them that the other lowers, too. */
  mistakes: number;
  common: number;
}

/** `votes`: those that `odds` were fitted on, all of the group's or a sample of its players (`part` of them, in (0, 1]). */
export function joinCopiedLists(
  witnesses: Witnesses,
  votes: Votes,
  part: number,
  sums: VoteSums,
  tau: Float64Array,
  odds: LogOdds,
  c: TrustConstants,
  pause: () => void,
): void {
  const { lists, near } = alikeLists(sums, c);
  const candidates = lists.filter(({ first, second }) => !witnesses.areOne(first, second));
  if (candidates.length === 0) return;
  countMistakes(candidates, near, votes, tau, odds, c, pause);
  const { z } = odds;
  for (const { first, second, shared, share, mistakes, common } of candidates) {
    const onlyReport =
      Math.max(z[first]!, z[second]!) < c.listOnlyTwoSidedMax &&
      shared >= c.listOnlySharedMin &&
      share >= c.listOnlyShare;
    const sharesMistakes = mistakes / part >= c.listMistakesMin && common >= c.listMistakesShare * mistakes;
    if (onlyReport || sharesMistakes) witnesses.join(first, second, 'copied_list');
  }
}

/**
 * The pairs that share half of the smaller list, ordered by peers; `near`: per peer those that share as much with it, and itself. A pair of peers that
 * are alike to most of those whom they share players with is no candidate: what they have in common is consensus.
 */
function alikeLists(sums: VoteSums, c: TrustConstants): { lists: Candidate[]; near: readonly Set<number>[] } {
  const { peers, lowered } = sums;
  const near = Array.from({ length: peers }, (_, j) => new Set([j]));
  const neighbours = new Uint32Array(peers);
  let lists: Candidate[] = [];
  const visitor: PairVisitor = {
    add(first, second, pairSums, at, part) {
      if (pairSums[at]! / part < c.listSharedMin) return;
      neighbours[first]!++;
      neighbours[second]!++;
      const shared = pairSums[at + BOTH_LOWER]! / part;
      const share = shared / Math.max(1, Math.min(lowered[first]!, lowered[second]!));
      if (shared < c.listSharedMin || share < c.listShare) return;
      near[first]!.add(second);
      near[second]!.add(first);
      const [smaller, larger] = lowered[first]! <= lowered[second]! ? [first, second] : [second, first];
      lists.push({ first, second, smaller, larger, shared, share, mistakes: 0, common: 0 });
    },
  };
  sums.showPairs(visitor);
  const isConsensus = (j: number) => near[j]!.size - 1 > neighbours[j]! / 2;
  lists = lists.filter(({ first, second }) => !(isConsensus(first) && isConsensus(second)));
  if (lists.length > c.listPairsMax) {
    const order = (p: Candidate, q: Candidate) => p.first - q.first || p.second - q.second;
    lists = lists.sort((p, q) => q.share - p.share || order(p, q)).slice(0, c.listPairsMax);
    lists.sort(order);
  }
  return { lists, near };
}

function countMistakes(
  candidates: readonly Candidate[],
  near: readonly Set<number>[],
  votes: Votes,
  tau: Float64Array,
  { z, pi, pull, oddsUsed }: LogOdds,
  c: TrustConstants,
  pause: () => void,
): void {
  const { players, offsets, peer, mass, x } = votes;
  const bySmaller = new Map<number, Candidate[]>();
  for (const candidate of candidates) {
    const others = bySmaller.get(candidate.smaller);
    if (others === undefined) bySmaller.set(candidate.smaller, [candidate]);
    else others.push(candidate);
  }
  const { a, b } = oddsUsed;
  const prior = logit(pi);
  const judge = (candidate: Candidate, first: number, end: number) => {
    const nearOne = near[candidate.first]!;
    const nearOther = near[candidate.second]!;
    let logOdds = 0;
    let clearing = 0;
    let isCommon = false;
    for (let e = first; e < end; e++) {
      const j = peer[e]!;
      if (j === candidate.larger) isCommon = x[e]! > MIDDLE;
      if (nearOne.has(j) || nearOther.has(j)) continue;
      logOdds += pull[e]! * (x[e]! * a[j]! - (1 - x[e]!) * b[j]!);
      clearing += tau[j]! * unit(mass[e]!) * z[j]!;
    }
    if (clearing <= c.listClearedMass || sigmoid(-(logOdds + prior)) <= c.listClearedGood) return;
    candidate.mistakes++;
    if (isCommon) candidate.common++;
  };
  inBlocks(players, pause, (from, to) => {
    for (let i = from; i < to; i++) {
      const first = offsets[i]!;
      const end = offsets[i + 1]!;
      // With one vote there is no rest that could clear the player.
      for (let e = first; e < end && end - first > 1; e++) {
        if (x[e]! <= MIDDLE) continue;
        for (const candidate of bySmaller.get(peer[e]!) ?? []) judge(candidate, first, end);
      }
    }
  });
}
