/** Finds peers that ban nearly everybody (docs/SCORING.md, "The log-odds"): such a ban says nothing. */
import { FOLLOWS, measureStrength } from '../evidence/evidence.js';
import type { TrustConstants } from '../evidence/trust-constants.js';
import { BOTH_MEASURE } from './sums/pair-sums.js';
import type { VoteSums } from './sums/vote-sums.js';
import { inBlocks } from './votes/scratch.js';
import type { Votes } from './votes/votes.js';
import type { Witnesses } from './witnesses.js';

/** Returns the witness group with several times the measures of all others, and nearly all of most of theirs; or -1. */
export function floodingWitness(sums: VoteSums, { numbers }: Witnesses, c: TrustConstants): number {
  const { measured } = sums;
  const largest = new Map<number, number>();
  measured.forEach((count, j) => {
    largest.set(numbers[j]!, Math.max(largest.get(numbers[j]!) ?? 0, count));
  });
  const [witness, most] = [...largest].reduce((one, other) => (other[1] > one[1] ? other : one), [-1, 0]);
  const others = [...largest.values()].reduce((sum, count) => sum + count, 0) - most;
  if (most < c.floodPlayersMin || most < c.floodTimes * others) return -1;
  const asked = Array.from(measured.keys()).filter((j) => numbers[j] !== witness && measured[j]! >= c.floodMeasuresMin);
  const held = new Set<number>();
  sums.showPairs((j, k, pairSums, at) => {
    if ((numbers[j] === witness) === (numbers[k] === witness)) return;
    const other = numbers[j] === witness ? k : j;
    const both = pairSums[at + BOTH_MEASURE]!;
    if (both >= c.floodShare * measured[other]! && measured[other]! >= c.floodMeasuresMin) held.add(other);
  });
  return held.size >= c.floodPeersMin && held.size >= asked.length / 2 ? witness : -1;
}

/** Returns, per peer, the share of its measures, by strength, that followed none but the flooding witness group. */
export function followedOnlyFlood(
  { peers, players, offsets, peer, measure, follows }: Votes,
  { numbers }: Witnesses,
  flooding: number,
  yieldCore: () => void,
): Float64Array {
  const alone = new Float64Array(peers);
  const all = new Float64Array(peers);
  const isOther = (e: number) => measure[e]! > 0 && numbers[peer[e]!] !== flooding;
  inBlocks(players, yieldCore, (from, to) => {
    for (let i = from; i < to; i++) {
      let others = 0;
      for (let e = offsets[i]!; e < offsets[i + 1]!; e++) others += +isOther(e);
      for (let e = offsets[i]!; e < offsets[i + 1]!; e++) {
        if (!isOther(e)) continue;
        const strength = measureStrength(measure[e]!);
        all[peer[e]!]! += strength;
        if (others === 1 && (follows[e]! & FOLLOWS) !== 0) alone[peer[e]!]! += strength;
      }
    }
  });
  return alone.map((sum, j) => (all[j]! > 0 ? sum / all[j]! : 0));
}
