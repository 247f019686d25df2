/**
 * What the gate is settled from, and operators are told: sums over all votes of a group, or over a sample of them.
 * Votes are taken in by parts, so that memory follows the peers and their pairs, not the players.
 */
import { unit } from '../../evidence/evidence.js';
import type { TrustConstants } from '../../evidence/trust-constants.js';
import { BLOCK, inBlocks } from '../votes/blocks.js';
import type { Scratch } from '../votes/scratch.js';
import type { Votes } from '../votes/votes.js';
import { type GateSample, WHOLE } from './gate-sample.js';
import { MIDDLE, type PairSums, type PairVisitor, pairSums } from './pair-sums.js';

export class VoteSums {
  readonly peers: number;
  /** Per peer `sum n1`, and `sum n1 x`, of the votes that are counted. A peer with volume 0 has no votes. */
  readonly volume: Float64Array;
  readonly badVolume: Float64Array;
  /** Per peer: players that it lowers, of those on which its vote is counted. */
  readonly #lowered: Uint32Array;
  /** Per peer: players on which its vote is counted, and those of them that no other peer reported. */
  readonly #reported: Uint32Array;
  readonly #alone: Uint32Array;
  /** Of a block, the players with two votes or more. */
  readonly #several = new Uint32Array(BLOCK);
  readonly #pairs: PairSums;
  readonly #sample: GateSample | null;
  readonly #yieldCore: () => void;

  /** Its large columns are the scratch's. `sample`: null where all votes are counted. */
  constructor(peers: number, constants: TrustConstants, scratch: Scratch, sample: GateSample | null = null) {
    this.peers = peers;
    this.#sample = sample;
    this.volume = new Float64Array(peers);
    this.badVolume = new Float64Array(peers);
    this.#lowered = new Uint32Array(peers);
    this.#reported = new Uint32Array(peers);
    this.#alone = new Uint32Array(peers);
    this.#pairs = pairSums(peers, constants, scratch, sample);
    this.#yieldCore = scratch.yieldCore;
  }

  /** Per peer the players that it reported; an estimate where its votes are counted on a part of them. */
  get reported(): Uint32Array {
    return this.#reported.map((players, j) => this.#ofAll(players, j));
  }

  /** Per peer the players that it lowers, `x > .5`; likewise. */
  get lowered(): Uint32Array {
    return this.#lowered.map((players, j) => this.#ofAll(players, j));
  }

  /**
   * Of the players that it reported, those that another peer reported too. A peer that shares none most likely has
   * another salt, so that few are no estimate: pairs see all that they share.
   */
  get shared(): Uint32Array {
    const { reported } = this;
    const shared = this.#reported.map((players, j) => this.#ofAll(players - this.#alone[j]!, j));
    if (this.#sample !== null) this.#pairs.raise(shared);
    return shared.map((players, j) => Math.min(players, reported[j]!));
  }

  /** How many of all players so many counted ones stand for; of a peer that is excluded none are counted. */
  #ofAll(counted: number, j: number): number {
    return this.#sample === null || counted === 0 ? counted : Math.round((counted / this.#sample.own[j]!) * WHOLE);
  }

  /** Takes in all votes on some players. */
  add(votes: Votes): void {
    inBlocks(votes.players, this.#yieldCore, (from, to) => this.#addRange(votes, from, to));
  }

  /** Those of the players from `from` up to `to`. */
  #addRange(votes: Votes, from: number, to: number): void {
    const { offsets, peer, mass, x, counted } = votes;
    const { volume, badVolume } = this;
    const lowered = this.#lowered;
    const reported = this.#reported;
    const end = offsets[to]!;
    for (let e = offsets[from]!; e < end; e++) {
      const j = peer[e]!;
      const n1 = unit(mass[e]!) * counted[e]!;
      volume[j]! += n1;
      badVolume[j]! += n1 * x[e]!;
      lowered[j]! += counted[e]! & +(x[e]! > MIDDLE);
      reported[j]! += counted[e]!;
    }
    const alone = this.#alone;
    const several = this.#several;
    let found = 0;
    // Without a branch, as in `unit`.
    for (let i = from; i < to; i++) {
      const first = offsets[i]!;
      const isShared = +(offsets[i + 1]! - first > 1);
      several[found] = i;
      found += isShared;
      alone[peer[first]!]! += counted[first]! & (1 - isShared);
    }
    this.#pairs.add(votes, several, found);
  }

  /** Shows every two peers with votes on a player in common. */
  showPairs(to: PairVisitor): void {
    this.#pairs.show(to);
  }
}
