/**
 * What the gate is settled from, and operators are told: sums over all votes of a group. Votes are taken in by parts, so that memory
 * follows the peers and their pairs, not the players.
 */
import { unit } from '../evidence.js';
import type { TrustConstants } from '../trust-constants.js';
import { type Centres, PairList, type Pairs } from './pair-list.js';
import { type PairSums, pairSums } from './pair-sums.js';
import type { Scratch } from './scratch.js';
import type { Votes } from './votes.js';

export class VoteSums {
  readonly peers: number;
  /** Per peer `sum n1`, and `sum n1 x`. A peer with volume 0 has no votes. */
  readonly volume: Float64Array;
  readonly badVolume: Float64Array;
  /** Per peer: players that it reported, and those of them that another peer reported too: one that shares none most likely has another salt. */
  readonly reported: Uint32Array;
  readonly shared: Uint32Array;
  readonly #pairs: PairSums;
  readonly #constants: TrustConstants;

  /** Its large columns are the scratch's. */
  constructor(peers: number, constants: TrustConstants, scratch: Scratch) {
    this.peers = peers;
    this.volume = new Float64Array(peers);
    this.badVolume = new Float64Array(peers);
    this.reported = new Uint32Array(peers);
    this.shared = new Uint32Array(peers);
    this.#pairs = pairSums(peers, constants, scratch);
    this.#constants = constants;
  }

  /** Whether votes may come in parts; otherwise they come all at once, and are looked at again by `pairs`. */
  get takesParts(): boolean {
    return this.#pairs.takesParts;
  }

  /** Takes in all votes on some players. */
  take(votes: Votes): void {
    const { players, offsets, peer, mass, x } = votes;
    const { volume, badVolume, reported, shared } = this;
    for (let i = 0; i < players; i++) {
      const start = offsets[i]!;
      const end = offsets[i + 1]!;
      let voters = 0;
      for (let e = start; e < end; e++) if (mass[e] !== 0) voters++;
      const isShared = voters > 1 ? 1 : 0;
      for (let e = start; e < end; e++) {
        if (mass[e] === 0) continue;
        const j = peer[e]!;
        const n1 = unit(mass[e]!);
        volume[j]! += n1;
        badVolume[j]! += n1 * x[e]!;
        reported[j]!++;
        shared[j]! += isShared;
      }
    }
    this.#pairs.take(votes);
  }

  /** The pairs of peers with votes on a player in common. `preTrusted`: one byte per peer. */
  pairs(centres: Centres, preTrusted: Uint8Array): Pairs {
    const list = new PairList(centres, preTrusted, this.#constants);
    this.#pairs.list(list);
    return list;
  }
}
