/** Sums the votes of a group per peer and pair. They come in parts: memory depends on the number of peers alone. */
import { cappedMass, FOLLOWS, FOLLOWS_CLAIM, loweringShare, measureStrength } from '../../evidence/evidence.js';
import type { TrustConstants } from '../../evidence/trust-constants.js';
import { BLOCK, inBlocks, type Scratch } from '../votes/scratch.js';
import type { Votes } from '../votes/votes.js';
import { MIDDLE, type PairSums, type PairVisitor, pairSums } from './pair-sums.js';

export class VoteSums {
  readonly peers: number;
  /** Per peer: `sum n1`, and `sum n1 x`. A peer with volume 0 has no votes. */
  readonly volume: Float64Array;
  readonly badVolume: Float64Array;
  /** The same of claims alone, and the lowering part that followed nobody. */
  readonly claimVolume: Float64Array;
  readonly badClaims: Float64Array;
  readonly ownClaims: Float64Array;
  /** Per peer: sum of the strengths of its measures, and of those that followed nobody. */
  readonly measures: Float64Array;
  readonly ownMeasures: Float64Array;
  /** Per peer: number of players that it reported, that it lowers (`x > .5`), and on whom it holds a measure. */
  readonly reported: Uint32Array;
  readonly lowered: Uint32Array;
  readonly measured: Uint32Array;
  /** Per peer: number of players that no other peer reported. */
  readonly #alone: Uint32Array;
  /** Players of a block with two votes or more. */
  readonly #several = new Uint32Array(BLOCK);
  readonly #pairs: PairSums;
  readonly #yieldCore: () => void;

  /** The large columns belong to the scratch memory. */
  constructor(peers: number, constants: TrustConstants, scratch: Scratch) {
    this.peers = peers;
    this.volume = new Float64Array(peers);
    this.badVolume = new Float64Array(peers);
    this.claimVolume = new Float64Array(peers);
    this.badClaims = new Float64Array(peers);
    this.ownClaims = new Float64Array(peers);
    this.measures = new Float64Array(peers);
    this.ownMeasures = new Float64Array(peers);
    this.measured = new Uint32Array(peers);
    this.lowered = new Uint32Array(peers);
    this.reported = new Uint32Array(peers);
    this.#alone = new Uint32Array(peers);
    this.#pairs = pairSums(peers, constants, scratch);
    this.#yieldCore = scratch.yieldCore;
  }

  /** Players that others reported, too. */
  get shared(): Uint32Array {
    return this.reported.map((players, j) => players - this.#alone[j]!);
  }

  add(votes: Votes): void {
    inBlocks(votes.players, this.#yieldCore, (from, to) => this.#addRange(votes, from, to));
  }

  #addRange(votes: Votes, from: number, to: number): void {
    const { offsets, peer, claims, x, measure, follows } = votes;
    const { volume, badVolume, claimVolume, badClaims, ownClaims, lowered, reported } = this;
    const end = offsets[to]!;
    for (let e = offsets[from]!; e < end; e++) {
      const j = peer[e]!;
      const a = measure[e]!;
      const c1 = cappedMass(claims[e]!);
      const bad = c1 * x[e]!;
      claimVolume[j]! += c1;
      badClaims[j]! += bad;
      ownClaims[j]! += (follows[e]! & FOLLOWS_CLAIM) === 0 ? bad : 0;
      reported[j]!++;
      if (a > 0) {
        this.#addMeasured(votes, e);
        continue;
      }
      volume[j]! += c1;
      badVolume[j]! += bad;
      lowered[j]! += +(x[e]! > MIDDLE);
    }
    const alone = this.#alone;
    const several = this.#several;
    let found = 0;
    // Has no branch, for the reason given in `cappedMass`.
    for (let i = from; i < to; i++) {
      const first = offsets[i]!;
      const isShared = +(offsets[i + 1]! - first > 1);
      several[found] = i;
      found += isShared;
      alone[peer[first]!]! += 1 - isShared;
    }
    this.#pairs.add(votes, several, found);
  }

  #addMeasured({ peer, claims, x, measure, follows }: Votes, e: number): void {
    const j = peer[e]!;
    const a = measure[e]!;
    const share = loweringShare(claims[e]!, x[e]!, a);
    const n1 = cappedMass(claims[e]! + a);
    this.volume[j]! += n1;
    this.badVolume[j]! += n1 * share;
    this.lowered[j]! += +(share > MIDDLE);
    this.measured[j]!++;
    this.measures[j]! += measureStrength(a);
    if ((follows[e]! & FOLLOWS) === 0) this.ownMeasures[j]! += measureStrength(a);
  }

  showPairs(to: PairVisitor): void {
    this.#pairs.show(to);
  }
}
