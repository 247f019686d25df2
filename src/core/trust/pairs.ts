/**
 * Agreement of every two peers on the players both reported (scoring page, stage 1). Six sums per pair are gathered
 * in one pass and turned into one agreement and one weight at once: only these are kept.
 */
import { trustConstants } from '../trust-constants.js';
import type { Votes } from './votes.js';

const { agreementPrior, densePeersMax, fullAgreement, oneSidedPart, sharedMax, spreadProductMin, twoSidedSpread } =
  trustConstants;

/** Pairs that share at least one player, each once, ordered by `first`, then `second`; `first < second`. */
export interface Pairs {
  readonly count: number;
  readonly first: Uint32Array;
  readonly second: Uint32Array;
  /** Players that both reported, `n_jk`. */
  readonly shared: Uint32Array;
  /** `a`, in [-1, 1]. */
  readonly agreement: Float64Array;
  /** `w`, in (0, 30]. */
  readonly weight: Float64Array;
}

/** Around what votes are judged: the group's `mu`, and each peer's own `mu_j`. */
export interface Centres {
  readonly mu: number;
  readonly own: Float64Array;
}

/**
 * Per pair (j, k), adjacent in memory, with `u = x - mu`: n_jk, then the sums of u_j u_k, u_j, u_k, u_j^2, u_k^2.
 * Six of eight places: a pair that fills a cache line of its own halves the time of the pass at 1,000 peers.
 */
const STRIDE = 8;

export function gatherPairs(votes: Votes, centres: Centres): Pairs {
  return votes.peers <= densePeersMax ? gatherDense(votes, centres) : gatherSparse(votes, centres);
}

/** Few peers: all pairs in one triangle, `k (k - 1) / 2 + j` for `j < k`, filled player by player. */
function gatherDense(votes: Votes, centres: Centres): Pairs {
  const { peers, players, offsets, peer, mass, x } = votes;
  const { mu } = centres;
  const sums = new Float64Array(((peers * (peers - 1)) / 2) * STRIDE);
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
  const list = new PairList(centres);
  for (let j = 0; j < peers; j++) {
    for (let k = j + 1; k < peers; k++) list.add(j, k, sums, ((k * (k - 1)) / 2 + j) * STRIDE);
  }
  return list;
}

/** Many peers: one peer at a time against a row of sums for its partners, so that memory follows the pairs there are. */
function gatherSparse(votes: Votes, centres: Centres): Pairs {
  const { peers, offsets, peer, mass, x } = votes;
  const { mu } = centres;
  const shared = sharedEntries(votes);
  const sums = new Float64Array(peers * STRIDE);
  const partners = new Uint32Array(peers);
  const list = new PairList(centres);
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
  return list;
}

/** Per peer its votes on players with two votes or more: the entry and its player, in the order of players. */
function sharedEntries(votes: Votes): { starts: Uint32Array; entry: Uint32Array; player: Uint32Array } {
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
  const entry = new Uint32Array(starts[peers]!);
  const player = new Uint32Array(starts[peers]!);
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

/** Pairs as they are found, in columns that double when full. */
class PairList implements Pairs {
  count = 0;
  first = new Uint32Array(1_024);
  second = new Uint32Array(1_024);
  shared = new Uint32Array(1_024);
  agreement = new Float64Array(1_024);
  weight = new Float64Array(1_024);
  readonly #centres: Centres;

  constructor(centres: Centres) {
    this.#centres = centres;
  }

  /** Takes the pair whose sums stand at `at`; nothing where the two share no player. */
  add(j: number, k: number, sums: Float64Array, at: number): void {
    const n = sums[at]!;
    if (n === 0) return;
    if (this.count === this.first.length) this.#grow();
    const { mu, own } = this.#centres;
    const [uv, u, v, uu, vv] = [sums[at + 1]!, sums[at + 2]!, sums[at + 3]!, sums[at + 4]!, sums[at + 5]!];
    let r = uv / Math.sqrt(Math.max(uu * vv, spreadProductMin));
    // The same around each peer's own mean: v_j = u_j - (mu_j - mu), so these sums follow from the six.
    const dj = own[j]! - mu;
    const dk = own[k]! - mu;
    const spread = (uu - 2 * dj * u + n * dj * dj) * (vv - 2 * dk * v + n * dk * dk);
    const d2 = Math.sqrt(Math.max(spread, spreadProductMin));
    const twoSided = d2 > twoSidedSpread * n;
    if (twoSided) r = Math.min(r, (uv - dk * u - dj * v + n * dj * dk) / d2);
    const row = this.count++;
    this.first[row] = j;
    this.second[row] = k;
    this.shared[row] = n;
    this.agreement[row] = (Math.min(1, Math.max(-1, r / fullAgreement)) * n) / (n + agreementPrior);
    this.weight[row] = Math.min(n, sharedMax) * (twoSided ? 1 : oneSidedPart);
  }

  #grow(): void {
    this.first = doubled(this.first, new Uint32Array(this.count * 2));
    this.second = doubled(this.second, new Uint32Array(this.count * 2));
    this.shared = doubled(this.shared, new Uint32Array(this.count * 2));
    this.agreement = doubled(this.agreement, new Float64Array(this.count * 2));
    this.weight = doubled(this.weight, new Float64Array(this.count * 2));
  }
}

function doubled<T extends Uint32Array | Float64Array>(from: T, into: T): T {
  into.set(from);
  return into;
}
