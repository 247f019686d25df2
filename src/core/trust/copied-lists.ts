/**
 * Finds peers that carry one list: they lowered the same players by mistake, as the other peers decide, which cannot
 * be part of it (docs/SCORING.md, "Witness groups"). If neither is two-sided, one list is enough.
 */
import { PeerPairs } from '../bits.js';
import { cappedMass, logit, loweringShare } from '../evidence/evidence.js';
import { sigmoid } from '../evidence/sigmoid.js';
import type { TrustConstants } from '../evidence/trust-constants.js';
import { getOrMake } from '../get-or-make.js';
import { AlikePairs } from './alike-pairs.js';
import type { LogOdds } from './log-odds.js';
import { BOTH_LOWER, MIDDLE } from './sums/pair-sums.js';
import type { VoteSums } from './sums/vote-sums.js';
import { inBlocks } from './votes/scratch.js';
import type { FitInput } from './weighed-votes.js';

interface Candidate {
  readonly first: number;
  readonly second: number;
  readonly smaller: number;
  readonly larger: number;
  /** Players that both lower: their number, and their share of the smaller list. */
  readonly shared: number;
  readonly share: number;
  /** Players of the smaller list that the other peers clear, and number of those that the second peer lowers, too. */
  mistakes: number;
  common: number;
}

/** Joins the peers of one list. `odds` were fitted to the input, the votes on a share `part` of the players. */
export function joinCopiedLists(input: FitInput, part: number, odds: LogOdds): void {
  const { witnesses, sums, c } = input;
  const { lists, near } = alikeLists(sums, c);
  const candidates = lists.filter(({ first, second }) => !witnesses.areOne(first, second));
  if (candidates.length === 0) return;
  countMistakes(candidates, near, input, odds);
  const { z } = odds;
  const alike = new AlikePairs(witnesses, c);
  for (const { first, second, shared, share, mistakes, common } of candidates) {
    const onlyReport =
      Math.max(z[first]!, z[second]!) < c.listOnlyTwoSidedMax &&
      shared >= c.listOnlySharedMin &&
      share >= c.listOnlyShare;
    const sharesMistakes = mistakes / part >= c.listMistakesMin && common >= c.listMistakesShare * mistakes;
    if (onlyReport || sharesMistakes) alike.add(first, second, share);
  }
  alike.join('copied_list');
}

/**
 * Returns the pairs that share half of the smaller list, `listPairsMax` at most, sorted by peers; without two peers
 * that are alike to most of their neighbours, whose list is consensus.
 */
function alikeLists(sums: VoteSums, c: TrustConstants): { lists: Candidate[]; near: PeerPairs } {
  const { peers, lowered } = sums;
  const near = new PeerPairs();
  const alike = new Uint32Array(peers);
  const neighbours = new Uint32Array(peers);
  const shareOf = (first: number, second: number, shared: number) =>
    shared / Math.max(1, Math.min(lowered[first]!, lowered[second]!));
  sums.showPairs((first, second, pairSums, at) => {
    if (pairSums[at]! < c.listSharedMin) return;
    neighbours[first]!++;
    neighbours[second]!++;
    const shared = pairSums[at + BOTH_LOWER]!;
    if (shared < c.listSharedMin || shareOf(first, second, shared) < c.listShare) return;
    near.add(first, second);
    alike[first]!++;
    alike[second]!++;
  });
  const isConsensus = (j: number) => alike[j]! > neighbours[j]! / 2;
  // Most often no two peers are alike, or all the alike ones belong to one crowd.
  if (alike.every((count, j) => count === 0 || isConsensus(j))) return { lists: [], near };
  let lists: Candidate[] = [];
  sums.showPairs((first, second, pairSums, at) => {
    if (!near.has(first, second) || (isConsensus(first) && isConsensus(second))) return;
    const [smaller, larger] = lowered[first]! <= lowered[second]! ? [first, second] : [second, first];
    const shared = pairSums[at + BOTH_LOWER]!;
    const share = shareOf(first, second, shared);
    lists.push({ first, second, smaller, larger, shared, share, mistakes: 0, common: 0 });
    if (lists.length >= 4 * c.listPairsMax) lists = mostShared(lists, c.listPairsMax);
  });
  if (lists.length > c.listPairsMax) lists = mostShared(lists, c.listPairsMax);
  return { lists: lists.sort(byPeers), near };
}

function mostShared(lists: readonly Candidate[], count: number): Candidate[] {
  return lists.toSorted((p, q) => q.share - p.share || byPeers(p, q)).slice(0, count);
}

function byPeers(p: Candidate, q: Candidate): number {
  return p.first - q.first || p.second - q.second;
}

function countMistakes(
  candidates: readonly Candidate[],
  near: PeerPairs,
  { votes, heard, c, scratch }: FitInput,
  odds: LogOdds,
): void {
  const { players, offsets, peer, claims, x, measure } = votes;
  const { z, pi } = odds;
  const bySmaller = new Map<number, Candidate[]>();
  for (const candidate of candidates) getOrMake(bySmaller, candidate.smaller, () => []).push(candidate);
  const lowers = (e: number) => loweringShare(claims[e]!, x[e]!, measure[e]!) > MIDDLE;
  const prior = logit(pi);
  const judge = (candidate: Candidate, first: number, end: number) => {
    const { first: one, second: other } = candidate;
    let logOdds = 0;
    let clearing = 0;
    let isCommon = false;
    for (let e = first; e < end; e++) {
      const j = peer[e]!;
      if (j === candidate.larger) isCommon = lowers(e);
      if (j === one || j === other || near.has(one, j) || near.has(other, j)) continue;
      logOdds += odds.spoken(e);
      clearing += heard.tau[j]! * cappedMass(claims[e]!) * z[j]!;
    }
    if (clearing <= c.listClearedMass || sigmoid(-(logOdds + prior)) <= c.listClearedGood) return;
    candidate.mistakes++;
    if (isCommon) candidate.common++;
  };
  inBlocks(players, scratch.yieldCore, (from, to) => {
    for (let i = from; i < to; i++) {
      const first = offsets[i]!;
      const end = offsets[i + 1]!;
      // If a player has a single vote, no other peers could clear the player.
      for (let e = first; e < end && end - first > 1; e++) {
        if (!lowers(e)) continue;
        for (const candidate of bySmaller.get(peer[e]!) ?? []) judge(candidate, first, end);
      }
    }
  });
}
