/**
 * Collects the pairs for the gates: the agreement of two peers on shared players, and its weight. Bounded: a crowd of
 * peers on one player must not fill the memory with pairs.
 */
import { doubled } from '../columns/segment.js';
import type { TrustConstants } from '../evidence/trust-constants.js';
import { MIDDLE } from './sums/pair-sums.js';
import type { Witnesses } from './witnesses.js';

/** Pairs that share at least one player, each once, sorted by `first`, then `second`; `first < second`. */
export type Pairs = Readonly<Pick<PairList, 'count' | 'first' | 'second' | 'shared' | 'agreement' | 'weight'>>;

export interface Centres {
  readonly mu: number;
  readonly own: Float64Array;
}

/** At `pairsMax`, pairs that share the fewest players go, except those with a pre-trusted peer. */
export class PairList {
  count = 0;
  first = new Uint32Array(1_024);
  second = new Uint32Array(1_024);
  /** Number of players that both reported. */
  shared = new Uint32Array(1_024);
  /** `a`, in [-1, 1]. */
  agreement = new Float64Array(1_024);
  /** `w`, in (0, 30]. */
  weight = new Float64Array(1_024);
  #sharedMin = 1;

  constructor(
    private readonly centres: Centres,
    private readonly witnesses: Witnesses,
    private readonly preTrusted: Uint8Array,
    private readonly constants: TrustConstants,
  ) {}

  /** See `PairVisitor`. */
  add(j: number, k: number, sums: Float64Array, at: number): void {
    const n = sums[at]!;
    if (this.witnesses.areOne(j, k) || !this.#isInSample(j, k, n)) return;
    const c = this.constants;
    const { mu, own } = this.centres;
    const [uv, u, v, uu, vv] = [sums[at + 1]!, sums[at + 2]!, sums[at + 3]!, sums[at + 4]!, sums[at + 5]!];
    // Shifts the sums to other references: (u - p)(v - q) = u v - q u - p v + p q, and so on.
    const product = (p: number, q: number) => uv - q * u - p * v + n * p * q;
    const squares = (p: number, q: number) => (uu - 2 * p * u + n * p * p) * (vv - 2 * q * v + n * q * q);
    const around = mu - MIDDLE;
    const aroundJ = own[j]! - MIDDLE;
    const aroundK = own[k]! - MIDDLE;
    let r = product(around, around) / Math.sqrt(Math.max(squares(around, around), c.spreadProductMin));
    const d2 = Math.sqrt(Math.max(squares(aroundJ, aroundK), c.spreadProductMin));
    const twoSided = d2 > c.twoSidedSpread * n;
    if (twoSided) r = Math.min(r, product(aroundJ, aroundK) / d2);
    const agreement = (Math.min(1, Math.max(-1, r / c.fullAgreement)) * n) / (n + c.agreementPrior);
    this.#append(j, k, n, agreement, Math.min(n, c.sharedMax) * (twoSided ? 1 : c.oneSidedPart));
  }

  #isInSample(j: number, k: number, shared: number): boolean {
    return shared >= this.#sharedMin || this.preTrusted[j] === 1 || this.preTrusted[k] === 1;
  }

  #append(j: number, k: number, shared: number, agreement: number, weight: number): void {
    if (this.count === this.constants.pairsMax) {
      this.#thin();
      if (!this.#isInSample(j, k, shared)) return;
    }
    if (this.count === this.first.length) this.#grow();
    const row = this.count++;
    this.first[row] = j;
    this.second[row] = k;
    this.shared[row] = shared;
    this.agreement[row] = agreement;
    this.weight[row] = weight;
  }

  /** Doubles the least number of shared players until some pairs have been dropped. */
  #thin(): void {
    while (this.count === this.constants.pairsMax) {
      this.#sharedMin *= 2;
      if (this.#sharedMin > 2 ** 32) throw new Error('more pairs with pre-trusted peers than fit in memory');
      this.#drop();
    }
  }

  #drop(): void {
    let sampledPairs = 0;
    for (let p = 0; p < this.count; p++) {
      if (!this.#isInSample(this.first[p]!, this.second[p]!, this.shared[p]!)) continue;
      this.first[sampledPairs] = this.first[p]!;
      this.second[sampledPairs] = this.second[p]!;
      this.shared[sampledPairs] = this.shared[p]!;
      this.agreement[sampledPairs] = this.agreement[p]!;
      this.weight[sampledPairs] = this.weight[p]!;
      sampledPairs++;
    }
    this.count = sampledPairs;
  }

  #grow(): void {
    this.first = doubled(this.first);
    this.second = doubled(this.second);
    this.shared = doubled(this.shared);
    this.agreement = doubled(this.agreement);
    this.weight = doubled(this.weight);
  }
}
