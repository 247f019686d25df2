/**
 * Merges the votes of an origin's carriers on one player into one vote, the heaviest of them, under the number of the
 * origin. Carriers have no votes of their own, so that carried evidence never counts as agreement between them.
 */
import { roundForComparison, type VoteSpace } from '../../evidence/evidence.js';
import type { Carrier, Origins } from '../../registers/origins.js';
import type { OriginFacts } from './peer-facts.js';

const NONE = -1;

export class OriginVotes implements OriginFacts {
  readonly origins: readonly number[];
  readonly carriers: readonly Carrier[];
  readonly carries: Uint8Array;
  /** Indexed by number: the origin of a carrier, `NONE` for others; and the carrier's peer. */
  readonly #originOf: Int32Array;
  readonly #peerOf: Int32Array;
  /** Number of origins with votes on the present player. The arrays after it hold their numbers and votes. */
  #found = 0;
  readonly #origin: Int32Array;
  readonly #mass: Float64Array;
  readonly #x: Float64Array;

  /** `numbers`: number of peers, origins and carriers together. */
  constructor({ list, carriers }: Pick<Origins, 'list' | 'carriers'>, numbers: number) {
    this.origins = list.map(({ index }) => index);
    this.carriers = carriers;
    this.carries = new Uint8Array(numbers);
    this.#originOf = new Int32Array(numbers).fill(NONE);
    this.#peerOf = new Int32Array(numbers).fill(NONE);
    for (const { index, peer, origin } of carriers) {
      this.#originOf[index] = origin;
      this.#peerOf[index] = peer;
    }
    this.#origin = new Int32Array(list.length);
    this.#mass = new Float64Array(list.length);
    this.#x = new Float64Array(list.length);
  }

  /** Returns the number under which the votes of a number count: the origin of a carrier, else the number itself. */
  countedAs(number: number): number {
    const origin = this.#originOf[number]!;
    return origin === NONE ? number : origin;
  }

  /**
   * Replaces the votes of carriers, among the votes on one player from `from` up to `end`, by those of their origins,
   * sorted by number; returns the new end.
   */
  merge(votes: VoteSpace, from: number, end: number): number {
    const { peer, mass, x } = votes;
    this.#found = 0;
    let next = from;
    for (let e = from; e < end; e++) {
      const origin = this.#originOf[peer[e]!]!;
      if (origin !== NONE) {
        this.carries[this.#peerOf[peer[e]!]!] = 1;
        this.#take(origin, mass[e]!, x[e]!);
        continue;
      }
      if (next < e) move(votes, e, next);
      next++;
    }
    for (let f = 0; f < this.#found; f++) {
      let to = next++;
      for (; to > from && peer[to - 1]! > this.#origin[f]!; to--) move(votes, to - 1, to);
      peer[to] = this.#origin[f]!;
      mass[to] = this.#mass[f]!;
      x[to] = this.#x[f]!;
    }
    return next;
  }

  /** Keeps the heaviest vote, and among equal ones that of the carrier that came first. */
  #take(origin: number, mass: number, x: number): void {
    let f = 0;
    while (f < this.#found && this.#origin[f] !== origin) f++;
    if (f < this.#found && roundForComparison(mass) <= roundForComparison(this.#mass[f]!)) return;
    if (f === this.#found) this.#origin[this.#found++] = origin;
    this.#mass[f] = mass;
    this.#x[f] = x;
  }
}

function move({ peer, mass, x }: VoteSpace, from: number, to: number): void {
  peer[to] = peer[from]!;
  mass[to] = mass[from]!;
  x[to] = x[from]!;
}
