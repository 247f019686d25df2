/** Sums the votes of every two peers on common players. Visitors see a pair at once: sparse sums are not stored. */
import { pairOf } from '../../bits.js';
import { loweringShare } from '../../evidence/evidence.js';
import type { TrustConstants } from '../../evidence/trust-constants.js';
import type { Scratch } from '../votes/scratch.js';
import type { Votes } from '../votes/votes.js';

export const MIDDLE = 0.5;

/**
 * Receives the sums of the pair `j < k` at `at`: n_jk, then, with `u = x - .5`, the sums of u_j u_k, u_j, u_k, u_j^2,
 * u_k^2; and at `at + BOTH_LOWER` and `at + BOTH_MEASURE` the numbers of players that both lower, and measured.
 */
export type PairVisitor = (j: number, k: number, sums: Float64Array, at: number) => void;

export interface PairSums {
  /** Adds the votes on some players; the first `count` numbers of `several` are the players with two votes or more. */
  add(votes: Votes, several: Uint32Array, count: number): void;
  /** Passes every pair with a common player to the visitor, sorted by the lower peer, then the higher. */
  show(to: PairVisitor): void;
}

/** True if votes may be added in parts. Otherwise they come all at once and stay unchanged until pairs are listed. */
export function pairsSplit(peers: number, { densePeersMax }: TrustConstants): boolean {
  return peers <= densePeersMax;
}

/** Dense for few peers, sparse for many. */
export function pairSums(peers: number, constants: TrustConstants, scratch: Scratch): PairSums {
  return pairsSplit(peers, constants) ? new DensePairSums(peers, scratch) : new SparsePairSums(scratch);
}

/** Values per pair, one cache line, which halves the pass at 1,000 peers. The reference votes are known only later. */
const STRIDE = 8;
export const BOTH_LOWER = 6;
export const BOTH_MEASURE = 7;

/** Offset of the sums of a pair in a triangle of all pairs; `j < k`. */
function placeOf(j: number, k: number): number {
  return pairOf(j, k) * STRIDE;
}

/** For few peers: all pairs in one triangle, filled player by player. */
class DensePairSums implements PairSums {
  readonly #peers: number;
  readonly #sums: Float64Array;
  /** The votes on one player: `x - .5` of all evidence, and the places of those with a measure. */
  readonly #values: Float64Array;
  readonly #measures: Uint32Array;

  constructor(peers: number, scratch: Scratch) {
    this.#peers = peers;
    this.#values = new Float64Array(peers);
    this.#measures = new Uint32Array(peers);
    this.#sums = scratch.float64(placeOf(0, peers)).fill(0);
  }

  add(votes: Votes, several: Uint32Array, count: number): void {
    const { offsets, peer, claims, x, measure } = votes;
    const sums = this.#sums;
    const values = this.#values;
    for (let n = 0; n < count; n++) {
      const i = several[n]!;
      const start = offsets[i]!;
      const votesOfPlayer = offsets[i + 1]! - start;
      let measures = 0;
      for (let g = 0; g < votesOfPlayer; g++) {
        const e = start + g;
        values[g] = loweringShare(claims[e]!, x[e]!, measure[e]!) - MIDDLE;
        if (measure[e]! > 0) this.#measures[measures++] = peer[e]!;
      }
      for (let g = 1; g < votesOfPlayer; g++) {
        const row = placeOf(0, peer[start + g]!);
        const v = values[g]!;
        for (let f = 0; f < g; f++) addTo(sums, row + peer[start + f]! * STRIDE, values[f]!, v);
      }
      if (measures > 1) this.#addMeasures(measures);
    }
  }

  #addMeasures(count: number): void {
    for (let g = 1; g < count; g++) {
      for (let f = 0; f < g; f++) this.#sums[placeOf(this.#measures[f]!, this.#measures[g]!) + BOTH_MEASURE]!++;
    }
  }

  show(to: PairVisitor): void {
    for (let j = 0; j < this.#peers; j++) {
      for (let k = j + 1; k < this.#peers; k++) {
        const at = placeOf(j, k);
        if (this.#sums[at] !== 0) to(j, k, this.#sums, at);
      }
    }
  }
}

/** For many peers: one row of sums at a time, so that memory is proportional to the pairs that exist. */
class SparsePairSums implements PairSums {
  #votes: Votes | null = null;

  constructor(private readonly scratch: Scratch) {}

  add(votes: Votes): void {
    if (this.#votes !== null && this.#votes !== votes)
      throw new Error('pair sums: the votes of many peers must be added all at once');
    this.#votes = votes;
  }

  show(to: PairVisitor): void {
    const votes = this.#votes;
    if (votes === null) return;
    const { peers, offsets, peer, claims, x, measure } = votes;
    const relativeOf = (e: number) => loweringShare(claims[e]!, x[e]!, measure[e]!) - MIDDLE;
    const shared = sharedEntries(votes, this.scratch);
    const sums = new Float64Array(peers * STRIDE);
    const partners = new Uint32Array(peers);
    for (let j = 0; j < peers; j++) {
      let met = 0;
      for (let s = shared.starts[j]!; s < shared.starts[j + 1]!; s++) {
        const i = shared.player[s]!;
        const e = shared.entry[s]!;
        const u = relativeOf(e);
        for (let f = offsets[i]!; f < offsets[i + 1]!; f++) {
          const k = peer[f]!;
          if (k <= j) continue;
          if (sums[k * STRIDE] === 0) partners[met++] = k;
          addTo(sums, k * STRIDE, u, relativeOf(f));
          sums[k * STRIDE + BOTH_MEASURE]! += +(measure[e]! > 0) & +(measure[f]! > 0);
        }
      }
      for (const k of partners.subarray(0, met).sort()) {
        to(j, k, sums, k * STRIDE);
        sums.fill(0, k * STRIDE, (k + 1) * STRIDE);
      }
      this.scratch.yieldCore();
    }
  }
}

/** Returns, per peer, its votes on players with two votes or more: the entry and its player, sorted by player. */
function sharedEntries(
  { peers, players, offsets, peer }: Votes,
  scratch: Scratch,
): { starts: Uint32Array; entry: Uint32Array; player: Uint32Array } {
  const starts = new Uint32Array(peers + 1);
  const isShared = (i: number) => offsets[i + 1]! - offsets[i]! > 1;
  for (let i = 0; i < players; i++) {
    if (!isShared(i)) continue;
    for (let e = offsets[i]!; e < offsets[i + 1]!; e++) starts[peer[e]! + 1]! += 1;
  }
  for (let j = 0; j < peers; j++) starts[j + 1]! += starts[j]!;
  const next = starts.slice();
  const entry = scratch.uint32(starts[peers]!);
  const player = scratch.uint32(starts[peers]!);
  for (let i = 0; i < players; i++) {
    if (!isShared(i)) continue;
    for (let e = offsets[i]!; e < offsets[i + 1]!; e++) {
      const at = next[peer[e]!]!++;
      entry[at] = e;
      player[at] = i;
    }
  }
  return { starts, entry, player };
}

/** `u`, `v`: the votes of the lower and of the higher peer, relative to the middle. */
function addTo(sums: Float64Array, at: number, u: number, v: number): void {
  sums[at]! += 1;
  sums[at + 1]! += u * v;
  sums[at + 2]! += u;
  sums[at + 3]! += v;
  sums[at + 4]! += u * u;
  sums[at + 5]! += v * v;
  sums[at + BOTH_LOWER]! += +(u > 0) & +(v > 0);
}
