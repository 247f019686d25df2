/**
 * Sums all votes of a group, or a sample of them, per peer and per pair: the input of the gates and of the reports to
 * operators. Votes are added in parts, so that memory depends on the peers and their pairs, not on the players.
 */
import { cappedMass } from '../../evidence/evidence.js';
import type { TrustConstants } from '../../evidence/trust-constants.js';
import { BLOCK, inBlocks } from '../votes/blocks.js';
import type { Scratch } from '../votes/scratch.js';
import type { Votes } from '../votes/votes.js';
import { type GateSample, WHOLE } from './gate-sample.js';
import { MIDDLE, type PairSums, type PairVisitor, pairSums } from './pair-sums.js';

export class VoteSums {
  readonly peers: number;
  /** Per peer: `sum n1`, and `sum n1 x`, of the counted votes. A peer with volume 0 has no votes. */
  readonly volume: Float64Array;
  readonly badVolume: Float64Array;
  /** Per peer: number of players that it lowers with a counted vote. */
  readonly #lowered: Uint32Array;
  /** Per peer: number of players on which its vote is counted, and number of those that no other peer reported. */
  readonly #reported: Uint32Array;
  readonly #alone: Uint32Array;
  /** Players of a block with two votes or more. */
  readonly #several = new Uint32Array(BLOCK);
  readonly #pairs: PairSums;
  readonly #sample: GateSample | null;
  readonly #yieldCore: () => void;

  /** The large columns belong to the scratch memory. `sample`: null if all votes are counted. */
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

  /** Per peer: number of players that it reported; an estimate if only a sample of its votes is counted. */
  get reported(): Uint32Array {
    return this.#reported.map((players, j) => this.#ofAll(players, j));
  }

  /** Per peer: number of players that it lowers, `x > .5`; an estimate if only a sample of its votes is counted. */
  get lowered(): Uint32Array {
    return this.#lowered.map((players, j) => this.#ofAll(players, j));
  }

  /**
   * Per peer: number of reported players that another peer reported, too. A peer that shares none most likely has
   * another salt. A small number must therefore be exact: pairs see all of their common players.
   */
  get shared(): Uint32Array {
    const { reported } = this;
    const shared = this.#reported.map((players, j) => this.#ofAll(players - this.#alone[j]!, j));
    if (this.#sample !== null) this.#pairs.raise(shared);
    return shared.map((players, j) => Math.min(players, reported[j]!));
  }

  /** Extrapolates a number of counted players to all of a peer's players. No player is counted for an excluded peer. */
  #ofAll(counted: number, j: number): number {
    return this.#sample === null || counted === 0 ? counted : Math.round((counted / this.#sample.own[j]!) * WHOLE);
  }

  /** Adds all votes on some players. */
  add(votes: Votes): void {
    inBlocks(votes.players, this.#yieldCore, (from, to) => this.#addRange(votes, from, to));
  }

  /** Adds the votes on the players from `from` up to `to`. */
  #addRange(votes: Votes, from: number, to: number): void {
    const { offsets, peer, mass, x, counted } = votes;
    const { volume, badVolume } = this;
    const lowered = this.#lowered;
    const reported = this.#reported;
    const end = offsets[to]!;
    for (let e = offsets[from]!; e < end; e++) {
      const j = peer[e]!;
      const n1 = cappedMass(mass[e]!) * counted[e]!;
      volume[j]! += n1;
      badVolume[j]! += n1 * x[e]!;
      lowered[j]! += counted[e]! & +(x[e]! > MIDDLE);
      reported[j]! += counted[e]!;
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
      alone[peer[first]!]! += counted[first]! & (1 - isShared);
    }
    this.#pairs.add(votes, several, found);
  }

  /** Passes every two peers with a common player to the visitor. */
  showPairs(to: PairVisitor): void {
    this.#pairs.show(to);
  }
}
