/**
 * Finds allied peers, which took measures about the same players far more often than with others (docs/SCORING.md,
 * "Witness groups"): honest about hundreds, lying together about some.
 */
import type { TrustConstants } from '../evidence/trust-constants.js';
import { getOrMake } from '../get-or-make.js';
import { AlikePairs } from './alike-pairs.js';
import { BOTH_MEASURE } from './sums/pair-sums.js';
import type { VoteSums } from './sums/vote-sums.js';
import type { Witnesses } from './witnesses.js';

interface ClosePair {
  readonly first: number;
  readonly second: number;
  readonly share: number;
}

/** Joins allied peers. Peers that are close to one of two are left out of what is usual for it. */
export function joinAllied(witnesses: Witnesses, sums: VoteSums, c: TrustConstants): void {
  const { measured } = sums;
  const isListed = (j: number) => measured[j]! >= c.alliedMin;
  const close: ClosePair[] = [];
  const visit = (take: (j: number, k: number, share: number, close: boolean) => void) =>
    sums.showPairs((j, k, pairSums, at) => {
      if (!isListed(j) || !isListed(k) || witnesses.areOne(j, k)) return;
      const both = pairSums[at + BOTH_MEASURE]!;
      const share = both / Math.min(measured[j]!, measured[k]!);
      take(j, k, share, both >= c.alliedMin && share >= c.alliedShare);
    });
  visit((first, second, share, isCloseOne) => {
    if (isCloseOne) close.push({ first, second, share });
  });
  if (close.length === 0) return;
  // The usual share matters only for peers of a close pair.
  const shares = new Map<number, number[]>();
  for (const { first, second } of close) for (const j of [first, second]) getOrMake(shares, j, () => []);
  const left = new Map<number, number>();
  visit((j, k, share, isCloseOne) => {
    for (const peer of [j, k]) {
      if (isCloseOne) left.set(peer, (left.get(peer) ?? 0) + 1);
      else if (share > 0) shares.get(peer)?.push(share);
    }
  });
  const listed = Array.from(measured.keys()).filter(isListed);
  const usual = new Map<number, number>();
  for (const [peer, some] of shares) {
    const others = listed.filter((other) => !witnesses.areOne(peer, other)).length - (left.get(peer) ?? 0);
    usual.set(peer, others > 0 ? medianWithZeros(some, others) : 1);
  }
  const alike = new AlikePairs(witnesses, c);
  for (const { first, second, share } of close) {
    if (share >= c.alliedTimes * Math.max(usual.get(first)!, usual.get(second)!)) alike.add(first, second, share);
  }
  alike.join('allied');
}

/** Returns the median of `count` values: those given, all above 0, and zeros. */
function medianWithZeros(given: readonly number[], count: number): number {
  const sorted = given.toSorted((p, q) => p - q);
  const at = (n: number) => (n < count - sorted.length ? 0 : sorted[n - (count - sorted.length)]!);
  return (at(Math.floor((count - 1) / 2)) + at(Math.floor(count / 2))) / 2;
}
