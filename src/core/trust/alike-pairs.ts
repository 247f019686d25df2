/**
 * Collects alike pairs of peers, and joins them to witness groups by complete linkage, the closest first: every peer
 * of one group is alike to every one of the other, so that no third joins two that are not.
 */
import { PeerPairs } from '../bits.js';
import { doubled } from '../columns/segment.js';
import type { TrustConstants } from '../evidence/trust-constants.js';
import type { WitnessReason } from '../relations.js';
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
    if (this.#count === this.#first.length) this.#grow();
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

  #grow(): void {
    this.#first = doubled(this.#first);
    this.#second = doubled(this.#second);
    this.#closeness = doubled(this.#closeness);
  }
}
