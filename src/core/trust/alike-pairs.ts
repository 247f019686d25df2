/**
 * Collects alike pairs of peers, and joins them to witness groups by complete linkage, the closest first: every peer
 * of one group is alike to every one of the other, so that no third joins two that are not.
 */
import { PeerPairs } from '../bits.js';
import { doubled } from '../columns/segment.js';
import type { TrustConstants } from '../evidence/trust-constants.js';
import { getOrMake } from '../get-or-make.js';
import type { WitnessReason } from '../vocabulary.js';
import { BOTH_MEASURE } from './sums/pair-sums.js';
import type { VoteSums } from './sums/vote-sums.js';
import { ApartGroups, type JoinRule, type Witnesses } from './witnesses.js';

const FIRST_PAIRS = 64;

export class AlikePairs {
  readonly #witnesses: Witnesses;
  readonly #pairsMax: number;
  readonly #alike = new PeerPairs();
  #count = 0;
  #first = new Uint16Array(FIRST_PAIRS);
  #second = new Uint16Array(FIRST_PAIRS);
  #closeness = new Float32Array(FIRST_PAIRS);

  constructor(witnesses: Witnesses, { pairsMax }: Pick<TrustConstants, 'pairsMax'>) {
    this.#witnesses = witnesses;
    this.#pairsMax = pairsMax;
  }

  /** Adds a pair `j < k`, sorted; `closeness`: [0, 1]. At `pairsMax` the closer half stays to be joined. */
  add(j: number, k: number, closeness: number): void {
    this.#alike.add(this.#unit(j), this.#unit(k));
    if (this.#count === this.#pairsMax) this.#keepClosest(this.#count >>> 1);
    if (this.#count === this.#first.length) {
      this.#first = doubled(this.#first);
      this.#second = doubled(this.#second);
      this.#closeness = doubled(this.#closeness);
    }
    this.#first[this.#count] = j;
    this.#second[this.#count] = k;
    this.#closeness[this.#count++] = closeness;
  }

  join(reason: WitnessReason): void {
    const areAlike = (j: number, k: number) => this.#alike.has(this.#unit(j), this.#unit(k));
    const rule: JoinRule = { reason, areAlike, apart: new ApartGroups() };
    const order = this.#closestFirst();
    for (let n = 0; n < this.#count; n++) {
      const p = order[2 * n]!;
      this.#witnesses.joinIfAlike(this.#first[p]!, this.#second[p]!, rule);
    }
  }

  /** Peers that the operator declared the same are alike to whatever any of them is alike to. */
  #unit(peer: number): number {
    return this.#witnesses.declared[peer]!;
  }

  /**
   * Returns the pairs, closest first, at every other place. Sorts as 64-bit numbers whose upper half falls with the
   * closeness: a function would take seconds for millions.
   */
  #closestFirst(): Uint32Array {
    const keys = new BigUint64Array(this.#count);
    const words = new Uint32Array(keys.buffer);
    const bits = new Uint32Array(this.#closeness.buffer);
    for (let p = 0; p < this.#count; p++) {
      words[2 * p] = p;
      words[2 * p + 1] = ~bits[p]!;
    }
    keys.sort();
    return words;
  }

  #keepClosest(count: number): void {
    const order = this.#closestFirst();
    const closest = Uint32Array.from({ length: count }, (_, n) => order[2 * n]!).sort();
    for (const [at, p] of closest.entries()) {
      this.#first[at] = this.#first[p]!;
      this.#second[at] = this.#second[p]!;
      this.#closeness[at] = this.#closeness[p]!;
    }
    this.#count = count;
  }
}

/** Joins clones (docs/SCORING.md, "Witness groups"), which share most players of the smaller one and vote the same. */
export function joinClones(witnesses: Witnesses, votes: VoteSums, c: TrustConstants): void {
  const { reported } = votes;
  const alike = new AlikePairs(witnesses, c);
  votes.showPairs((j, k, sums, at) => {
    const n = sums[at]!;
    if (n < c.cloneSharedMin) return;
    const share = n / Math.max(1, Math.min(reported[j]!, reported[k]!));
    if (share < c.cloneShare) return;
    const [uv, u, v, uu, vv] = [sums[at + 1]!, sums[at + 2]!, sums[at + 3]!, sums[at + 4]!, sums[at + 5]!];
    if ((uu + vv - 2 * uv) / n > c.cloneDifferenceMax) return;
    const variance = Math.min(uu / n - (u / n) ** 2, vv / n - (v / n) ** 2);
    const needed = variance > c.cloneUniformVariance ? c.cloneShare : c.cloneShareUniform;
    if (share >= needed) alike.add(j, k, share);
  });
  alike.join('clones');
}

/**
 * Joins allied peers, honest about hundreds of players, lying together about some: they took measures about the same
 * ones far more often than is usual for either, without the peers close to it.
 */
export function joinAllied(witnesses: Witnesses, sums: VoteSums, c: TrustConstants): void {
  const { measured } = sums;
  const isListed = (j: number) => measured[j]! >= c.alliedMin;
  const close: { readonly first: number; readonly second: number; readonly share: number }[] = [];
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
