/** What of the votes stays the same in every round of the log-odds (scoring page, "Peer trust, stage 2"). */
import { damping, saturate, unit } from '../evidence.js';
import type { TrustConstants } from '../trust-constants.js';
import { inBlocks } from './blocks.js';
import type { Scratch } from './scratch.js';
import type { VoteSums } from './vote-sums.js';
import type { Votes } from './votes.js';

/** The votes on some players, as the rounds look at them. */
export interface Look extends Pick<Votes, 'players' | 'offsets' | 'peer' | 'x'> {
  /** Per entry `tau n / deff`: how far the vote pulls its player's log-odds. */
  readonly pull: Float64Array;
  /** Per entry `om`: how much the player's state tells about the vote. */
  readonly told: Float64Array;
  /** Per player `c = M / (M + 1)`, M without the weightiest vote: what one peer alone says tells nothing of the group. */
  readonly known: Float64Array;
  /** Per peer `sum om x` and `sum om (1 - x)`. */
  readonly nb: Float64Array;
  readonly ng: Float64Array;
}

export class WeighedVotes implements Look {
  readonly players: number;
  readonly offsets: Uint32Array;
  readonly peer: Uint16Array;
  readonly x: Float64Array;
  readonly pull: Float64Array;
  readonly told: Float64Array;
  readonly known: Float64Array;
  readonly nb: Float64Array;
  readonly ng: Float64Array;
  /** Per peer `sum n1 R / (R + half)`: its votes as far as others saw the player. */
  readonly corroborated: Float64Array;
  /** Upper bound of the share of bad players. */
  readonly piMax: number;
  /** The scratch's. */
  readonly pause: () => void;

  /** Its large columns are the scratch's. */
  constructor(votes: Votes, sums: VoteSums, tau: Float64Array, c: TrustConstants, scratch: Scratch) {
    const { peers, players, offsets, peer, x } = votes;
    this.players = players;
    this.offsets = offsets;
    this.peer = peer;
    this.x = x;
    this.pause = scratch.pause;
    this.pull = scratch.float64(peer.length);
    this.told = scratch.float64(peer.length);
    this.known = scratch.float64(players);
    this.nb = new Float64Array(peers);
    this.ng = new Float64Array(peers);
    this.corroborated = new Float64Array(peers);
    this.piMax = ceiling(sums, tau, c);
    const voters = sums.volume.reduce((count, volume) => count + (volume > 0 ? 1 : 0), 0);
    const floor = voters < c.corroboratedPeersMin ? 0 : c.corroborationFloor;
    inBlocks(players, this.pause, (from, to) => this.#weigh(votes.mass, from, to, tau, floor, c));
  }

  /** The votes on the players from `from` up to `to`. */
  #weigh(mass: Float64Array, from: number, to: number, tau: Float64Array, floor: number, c: TrustConstants): void {
    const { offsets, peer, x, pull, told, known, nb, ng, corroborated } = this;
    const { repeatsFrom, badShareAlone, corroborationHalf } = c;
    for (let i = from; i < to; i++) {
      const end = offsets[i + 1]!;
      let sum = 0;
      let most = 0;
      for (let e = offsets[i]!; e < end; e++) {
        const vote = tau[peer[e]!]! * unit(mass[e]!);
        sum += vote;
        most = Math.max(most, vote);
      }
      const perDeff = 1 / damping(sum / repeatsFrom);
      const seen = Math.max(0, sum - (1 - badShareAlone) * most);
      known[i] = seen / (seen + 1);
      for (let e = offsets[i]!; e < end; e++) {
        const j = peer[e]!;
        const n1 = unit(mass[e]!);
        const others = Math.max(0, sum - tau[j]! * n1);
        const part = n1 / (others + corroborationHalf);
        const om = part * (others + floor);
        pull[e] = tau[j]! * saturate(mass[e]!) * perDeff;
        told[e] = om;
        corroborated[j]! += part * others;
        nb[j]! += om * x[e]!;
        ng[j]! += om * (1 - x[e]!);
      }
    }
  }

  /**
   * Every so-manieth player, in columns of their own, the scratch's: where they stand, the votes of each would lie on cache lines apart, read anew in
   * every round.
   */
  every(stride: number, scratch: Scratch): Look {
    const players = Math.ceil(this.players / stride);
    let votes = 0;
    inBlocks(players, this.pause, (first, end) => {
      votes += this.#votes(stride, first, end);
    });
    const to = {
      players,
      offsets: scratch.uint32(players + 1),
      peer: scratch.uint16(votes),
      x: scratch.float64(votes),
      pull: scratch.float64(votes),
      told: scratch.float64(votes),
      known: scratch.float64(players),
      nb: new Float64Array(this.nb.length),
      ng: new Float64Array(this.ng.length),
    };
    to.offsets[0] = 0;
    inBlocks(players, this.pause, (first, end) => this.#copy(to, stride, first, end));
    return to;
  }

  /** Of players of a look at every so-manieth, from its `first` up to its `end`. */
  #votes(stride: number, first: number, end: number): number {
    let votes = 0;
    for (let n = first; n < end; n++) votes += this.offsets[n * stride + 1]! - this.offsets[n * stride]!;
    return votes;
  }

  /** Players of a look at every so-manieth, from its `first` up to its `end`. */
  #copy(to: Look, stride: number, first: number, end: number): void {
    const { offsets, peer, x, pull, told, known } = this;
    for (let n = first; n < end; n++) {
      const i = n * stride;
      let at = to.offsets[n]!;
      for (let e = offsets[i]!; e < offsets[i + 1]!; e++) {
        const j = peer[e]!;
        to.peer[at] = j;
        to.x[at] = x[e]!;
        to.pull[at] = pull[e]!;
        to.told[at] = told[e]!;
        to.nb[j]! += told[e]! * x[e]!;
        to.ng[j]! += told[e]! * (1 - x[e]!);
        at++;
      }
      to.known[n] = known[i]!;
      to.offsets[n + 1] = at;
    }
  }
}

/** `pimax = clip(G / (B + G) + .25, .2, .6)`, B and G the gated masses; a peer with many votes counts as one with `groupVotesMax`. */
function ceiling({ peers, volume, badVolume }: VoteSums, tau: Float64Array, c: TrustConstants): number {
  let bad = 0;
  let good = 0;
  for (let j = 0; j < peers; j++) {
    const part = tau[j]! * Math.min(1, c.groupVotesMax / Math.max(c.massMin, volume[j]!));
    bad += part * badVolume[j]!;
    good += part * (volume[j]! - badVolume[j]!);
  }
  const share = good / (bad + good + c.massMin);
  return Math.min(c.badShareCeilingMax, Math.max(c.badShareCeilingMin, share + c.badShareMargin));
}
