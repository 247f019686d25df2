/**
 * Gathers the sums over the players that two peers both reported, for every two peers, in one pass (scoring page,
 * stage 1). What the sums say is worked out at once in `pair-list.ts`, so that they need not be kept.
 */
import type { TrustConstants } from '../trust-constants.js';
import { type Centres, PairList, type Pairs } from './pair-list.js';
import type { Scratch } from './scratch.js';
import type { Votes } from './votes.js';

/**
 * Per pair (j, k), adjacent in memory, with `u = x - mu`: n_jk, then the sums of u_j u_k, u_j, u_k, u_j^2, u_k^2.
 * Six of eight places: a pair that fills a cache line of its own halves the time of the pass at 1,000 peers.
 */
const STRIDE = 8;

/** The pairs of peers with votes on a player in common. `preTrusted`: one byte per peer. */
export function gatherPairs(
  votes: Votes,
  centres: Centres,
  preTrusted: Uint8Array,
  constants: TrustConstants,
  scratch: Scratch,
): Pairs {
  const list = new PairList(centres, preTrusted, constants);
  if (votes.peers <= constants.densePeersMax) gatherDense(votes, centres.mu, list, scratch);
  else gatherSparse(votes, centres.mu, list, scratch);
  return list;
}

/** Few peers: all pairs in one triangle, `k (k - 1) / 2 + j` for `j < k`, filled player by player. */
function gatherDense(votes: Votes, mu: number, list: PairList, scratch: Scratch): void {
  const { peers, players, offsets, peer, mass, x } = votes;
  const sums = scratch.float64(((peers * (peers - 1)) / 2) * STRIDE).fill(0);
  for (let i = 0; i < players; i++) {
    const start = offsets[i]!;
    const end = offsets[i + 1]!;
    for (let e = start + 1; e < end; e++) {
      if (mass[e] === 0) continue;
      const j = peer[e]!;
      const u = x[e]! - mu;
      for (let f = start; f < e; f++) {
        if (mass[f] === 0) continue;
        const k = peer[f]!;
        const v = x[f]! - mu;
        if (j < k) addTo(sums, ((k * (k - 1)) / 2 + j) * STRIDE, u, v);
        else addTo(sums, ((j * (j - 1)) / 2 + k) * STRIDE, v, u);
      }
    }
  }
  for (let j = 0; j < peers; j++) {
    for (let k = j + 1; k < peers; k++) list.add(j, k, sums, ((k * (k - 1)) / 2 + j) * STRIDE);
  }
}

/** Many peers: one peer at a time against a row of sums for its partners, so that memory follows the pairs there are. */
function gatherSparse(votes: Votes, mu: number, list: PairList, scratch: Scratch): void {
  const { peers, offsets, peer, mass, x } = votes;
  const shared = sharedEntries(votes, scratch);
  const sums = new Float64Array(peers * STRIDE);
  const partners = new Uint32Array(peers);
  for (let j = 0; j < peers; j++) {
    let met = 0;
    for (let s = shared.starts[j]!; s < shared.starts[j + 1]!; s++) {
      const i = shared.player[s]!;
      const u = x[shared.entry[s]!]! - mu;
      for (let f = offsets[i]!; f < offsets[i + 1]!; f++) {
        const k = peer[f]!;
        if (k <= j || mass[f] === 0) continue;
        if (sums[k * STRIDE] === 0) partners[met++] = k;
        addTo(sums, k * STRIDE, u, x[f]! - mu);
      }
    }
    for (const k of partners.subarray(0, met).sort()) {
      list.add(j, k, sums, k * STRIDE);
      sums.fill(0, k * STRIDE, (k + 1) * STRIDE);
    }
  }
}

/** Per peer its votes on players with two votes or more: the entry and its player, in the order of players. */
function sharedEntries(
  votes: Votes,
  scratch: Scratch,
): { starts: Uint32Array; entry: Uint32Array; player: Uint32Array } {
  const { peers, players, offsets, peer, mass } = votes;
  const starts = new Uint32Array(peers + 1);
  const isShared = (i: number): boolean => {
    let count = 0;
    for (let e = offsets[i]!; e < offsets[i + 1]!; e++) if (mass[e] !== 0) count++;
    return count > 1;
  };
  for (let i = 0; i < players; i++) {
    if (!isShared(i)) continue;
    for (let e = offsets[i]!; e < offsets[i + 1]!; e++) if (mass[e] !== 0) starts[peer[e]! + 1]! += 1;
  }
  for (let j = 0; j < peers; j++) starts[j + 1]! += starts[j]!;
  const next = starts.slice();
  const entry = scratch.uint32(starts[peers]!);
  const player = scratch.uint32(starts[peers]!);
  for (let i = 0; i < players; i++) {
    if (!isShared(i)) continue;
    for (let e = offsets[i]!; e < offsets[i + 1]!; e++) {
      if (mass[e] === 0) continue;
      const at = next[peer[e]!]!++;
      entry[at] = e;
      player[at] = i;
    }
  }
  return { starts, entry, player };
}

function addTo(sums: Float64Array, at: number, u: number, v: number): void {
  sums[at]! += 1;
  sums[at + 1]! += u * v;
  sums[at + 2]! += u;
  sums[at + 3]! += v;
  sums[at + 4]! += u * u;
  sums[at + 5]! += v * v;
}
