/**
 * Collects pairs of peers that a rule finds alike, with how close they are, and joins them to witness groups by
 * complete linkage: the closest pair first, and only where every peer of one group is alike to every peer of the other,
 * so that no third peer can join two that are not alike themselves.
 */
import type { TrustConstants } from '../evidence/trust-constants.js';
import type { WitnessReason } from '../relations.js';
import { ApartGroups, type JoinRule, type Witnesses } from './witnesses.js';

const FIRST_PAIRS = 64;

export class AlikePairs {
  readonly #witnesses: Witnesses;
  readonly #pairsMax: number;
  readonly #alike: PeerBits;
  #count = 0;
  #first = new Uint16Array(FIRST_PAIRS);
  #second = new Uint16Array(FIRST_PAIRS);
  #closeness = new Float32Array(FIRST_PAIRS);

  constructor(witnesses: Witnesses, { pairsMax }: Pick<TrustConstants, 'pairsMax'>) {
    this.#witnesses = witnesses;
    this.#pairsMax = pairsMax;
    this.#alike = new PeerBits(witnesses.numbers.length);
  }

  /**
   * Adds a pair `j < k`. Pairs come sorted by peers. `closeness` is in [0, 1]; differences below 2^-24 are none. When
   * `pairsMax` is reached the closer half stays; the others still count as alike.
   */
  add(j: number, k: number, closeness: number): void {
    this.#alike.add(this.#unit(j), this.#unit(k));
    if (this.#count === this.#pairsMax) this.#keepClosest(this.#count >>> 1);
    if (this.#count === this.#first.length) this.#grow();
    this.#first[this.#count] = j;
    this.#second[this.#count] = k;
    this.#closeness[this.#count++] = closeness;
  }

  /** Joins the pairs, and returns whether any groups were joined. */
  join(reason: WitnessReason): boolean {
    const before = this.#witnesses.pairs.length;
    const areAlike = (j: number, k: number) => this.#alike.has(this.#unit(j), this.#unit(k));
    const rule: JoinRule = { reason, areAlike, apart: new ApartGroups() };
    const order = this.#closestFirst();
    for (let n = 0; n < this.#count; n++) {
      const p = order[2 * n]!;
      this.#witnesses.joinIfAlike(this.#first[p]!, this.#second[p]!, rule);
    }
    return this.#witnesses.pairs.length > before;
  }

  /** Peers that the operator declared the same are alike to whatever any of them is alike to. */
  #unit(peer: number): number {
    return this.#witnesses.declared[peer]!;
  }

  /**
   * Returns the pairs, closest first and then in their order, at every other place. Sorts whole numbers of 64 bits,
   * whose upper half falls with the closeness: a sort with a function would take seconds for millions of pairs.
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
    const length = 2 * this.#first.length;
    const { first, second, closeness } = { first: this.#first, second: this.#second, closeness: this.#closeness };
    this.#first = new Uint16Array(length);
    this.#second = new Uint16Array(length);
    this.#closeness = new Float32Array(length);
    this.#first.set(first);
    this.#second.set(second);
    this.#closeness.set(closeness);
  }
}

/** A set of pairs of peers, one bit each, because thousands of peers may all be alike. */
export class PeerBits {
  readonly #peers: number;
  readonly #rows: (Uint8Array | null)[];

  constructor(peers: number) {
    this.#peers = peers;
    this.#rows = new Array(peers).fill(null);
  }

  add(j: number, k: number): void {
    this.#set(j, k);
    this.#set(k, j);
  }

  has(j: number, k: number): boolean {
    return ((this.#rows[j]?.[k >>> 3] ?? 0) & (1 << (k & 7))) !== 0;
  }

  #set(j: number, k: number): void {
    this.#rows[j] ??= new Uint8Array(Math.ceil(this.#peers / 8));
    this.#rows[j]![k >>> 3]! |= 1 << (k & 7);
  }
}
