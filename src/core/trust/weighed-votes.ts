/**
 * Computes the quantities of the votes that are constant over the rounds of the log-odds (docs/SCORING.md, "The
 * log-odds"): what a vote adds to the size of the evidence about its player, the two-sidedness of peers, and the
 * evidence of the other peers about each vote.
 */
import { cappedMass, measureStrength, roundForComparison, saturate, strength } from '../evidence/evidence.js';
import type { TrustConstants } from '../evidence/trust-constants.js';
import type { VoteSums } from './sums/vote-sums.js';
import { inBlocks, type Scratch } from './votes/scratch.js';
import type { Votes } from './votes/votes.js';
import type { Witnesses } from './witnesses.js';

/** Sums per peer over its votes, each weighted by the evidence of the others about it. */
export type VoteTotals = ReturnType<typeof noTotals>;

const NO_VOTE = -1;

export interface Heard {
  /** The gate of each peer, in [0, 1]: of an origin, too, whose votes are judged. */
  readonly gate: Float64Array;
  /** The gate of each peer whose votes count; 0 for an origin. */
  readonly tau: Float64Array;
  /** Share of the measures, and of the lowering claims, that a peer did not repeat from others, in [0, 1]. */
  readonly finds: Float64Array;
  readonly findsClaim: Float64Array;
}

/** Input of a fit of log-odds. `votes`, `sums`: of all players or of samples; `preTrusted`: one byte per peer. */
export interface FitInput {
  readonly votes: Votes;
  readonly sums: VoteSums;
  readonly heard: Heard;
  readonly witnesses: Witnesses;
  readonly preTrusted: Uint8Array;
  readonly c: TrustConstants;
  readonly scratch: Scratch;
}

/** The votes on some players, as the rounds use them. */
export type Look = Omit<WeighedVotes, 'z' | 'yieldCore' | 'every'>;

export class WeighedVotes {
  readonly players: number;
  readonly offsets: Uint32Array;
  readonly peer: Uint16Array;
  readonly x: Float64Array;
  /** Per vote: `tau n`, the factor of the log-odds of its claims; 0 if another peer represents the witness. */
  readonly pull: Float64Array;
  /** Per vote: `tau a'`, the weight of its measure; 0 if there is none or another peer represents the witness. */
  readonly measured: Float64Array;
  /** Per vote: the evidence of other two-sided peers about it, and that of any other peers. */
  readonly judged: Float64Array;
  readonly seconded: Float64Array;
  readonly judgedTotals: VoteTotals;
  readonly secondedTotals: VoteTotals;
  /** Per peer: the sum of `measured`; and the number of votes with a measure. */
  readonly measuredTotals: Float64Array;
  measuredVotes = 0;
  /** Per player: the amount of evidence of two-sided peers, in [0, 1). */
  readonly known: Float64Array;
  /** Two-sidedness per peer, in [0, 1). */
  readonly z: Float64Array;
  readonly yieldCore: () => void;
  readonly #claims: Float64Array;
  readonly #measure: Float64Array;
  /** Per vote: `tau n1 v`; 0 if another peer represents the witness. */
  readonly #voice: Float64Array;

  /** The large columns belong to the scratch memory. `stride`: two-sidedness first uses every n-th player. */
  constructor({ votes, sums, heard, witnesses, c, scratch }: FitInput, stride: number) {
    const { peers, players, offsets, peer, claims, x, measure } = votes;
    this.players = players;
    this.offsets = offsets;
    this.peer = peer;
    this.x = x;
    this.yieldCore = scratch.yieldCore;
    this.#claims = claims;
    this.#measure = measure;
    this.#voice = scratch.float64(peer.length);
    this.pull = scratch.float64(peer.length);
    this.measured = scratch.float64(peer.length);
    this.measuredTotals = new Float64Array(peers);
    this.judged = scratch.float64(peer.length);
    this.seconded = scratch.float64(peer.length);
    this.known = scratch.float64(players);
    // Per witness: the vote that represents it on the present player.
    const speakers = new Int32Array(peers).fill(NO_VOTE);
    inBlocks(players, this.yieldCore, (from, to) => this.#speak(from, to, heard, witnesses, speakers));
    const { claimVolume, badClaims } = sums;
    this.z = badClaims.map((bad, j) => twoSidedness(bad, Math.max(0, claimVolume[j]! - bad), c));
    for (let round = 1; round < c.twoSidedRounds; round++) this.#setZ(this.#lookAtOthers(stride, c), c);
    const totals = { judged: noTotals(peers), seconded: noTotals(peers) };
    inBlocks(players, this.yieldCore, (from, to) => this.#judge(totals, from, to, c.othersHalf));
    this.judgedTotals = totals.judged;
    this.secondedTotals = totals.seconded;
    this.#setZ(totals.judged, c);
    this.#scale(this.#groupScale(sums, heard.tau, c));
    inBlocks(players, this.yieldCore, (from, to) => this.#pull(from, to));
  }

  /** Selects, for each witness, the peer with the heaviest vote on a player, the first among equal ones. */
  #speak(
    from: number,
    to: number,
    { gate, tau, finds, findsClaim }: Heard,
    { numbers, sizes, pairs }: Witnesses,
    speakers: Int32Array,
  ): void {
    const { offsets, peer, x, pull, measured } = this;
    const claims = this.#claims;
    const measure = this.#measure;
    const voice = this.#voice;
    for (let e = offsets[from]!; e < offsets[to]!; e++) {
      const j = peer[e]!;
      const a = measure[e]!;
      // Becomes `tau n` once two-sidedness is known.
      pull[e] = tau[j]!;
      const found = a > 0 ? finds[j]! : x[e]! * findsClaim[j]! + (1 - x[e]!);
      voice[e] = tau[j]! * cappedMass(claims[e]! + a) * found;
      measured[e] = a > 0 ? gate[j]! * measureStrength(a) : 0;
    }
    if (pairs.length > 0) this.#silence(from, to, numbers, sizes, speakers);
    for (let e = offsets[from]!; e < offsets[to]!; e++) {
      if (measured[e] === 0) continue;
      this.measuredTotals[peer[e]!]! += measured[e]!;
      this.measuredVotes++;
    }
  }

  #silence(from: number, to: number, numbers: Uint16Array, sizes: Uint16Array, speakers: Int32Array): void {
    const { offsets, peer, pull, measured } = this;
    const voice = this.#voice;
    for (let i = from; i < to; i++) {
      const end = offsets[i + 1]!;
      for (let e = offsets[i]!; e < end; e++) {
        const j = peer[e]!;
        if (sizes[j]! === 1) continue;
        const before = speakers[numbers[j]!]!;
        const isHeard = before === NO_VOTE || roundForComparison(voice[e]!) > roundForComparison(voice[before]!);
        if (isHeard) speakers[numbers[j]!] = e;
        const silent = isHeard ? before : e;
        if (silent === NO_VOTE) continue;
        voice[silent] = 0;
        pull[silent] = 0;
        measured[silent] = 0;
      }
      for (let e = offsets[i]!; e < end; e++) speakers[numbers[peer[e]!]!] = NO_VOTE;
    }
  }

  /** `tau c1 v`: what the claims of a vote add to the size of the evidence. */
  #claimVoice(e: number): number {
    const a = this.#measure[e]!;
    if (a === 0) return this.#voice[e]!;
    const c = this.#claims[e]!;
    return (this.#voice[e]! * cappedMass(c)) / cappedMass(c + a);
  }

  #setZ({ lowering, raising }: VoteTotals, c: TrustConstants): void {
    for (let j = 0; j < this.z.length; j++) this.z[j] = twoSidedness(lowering[j]!, raising[j]!, c);
  }

  /** Sums the evidence of other two-sided peers about each peer's votes, extrapolated to all players. */
  #lookAtOthers(stride: number, c: TrustConstants): VoteTotals {
    const totals = noTotals(this.z.length);
    const players = Math.ceil(this.players / stride);
    inBlocks(players, this.yieldCore, (from, to) => this.#lookAtSome(totals, from, to, stride, c.othersHalf));
    return totals;
  }

  #lookAtSome({ lowering, raising }: VoteTotals, from: number, to: number, stride: number, half: number): void {
    const { offsets, peer, x, z } = this;
    const claims = this.#claims;
    for (let n = from; n < to; n++) {
      const first = offsets[n * stride]!;
      const end = offsets[n * stride + 1]!;
      if (end - first === 1) continue;
      let sum = 0;
      for (let e = first; e < end; e++) sum += this.#claimVoice(e) * z[peer[e]!]!;
      for (let e = first; e < end; e++) {
        const j = peer[e]!;
        const others = Math.max(0, sum - this.#claimVoice(e) * z[j]!);
        const agreement = (stride * cappedMass(claims[e]!) * others) / (others + half);
        lowering[j]! += agreement * x[e]!;
        raising[j]! += agreement * (1 - x[e]!);
      }
    }
  }

  /** Writes, per vote, the evidence of other two-sided peers about it and that of any other peers, and sums both up. */
  #judge(totals: { judged: VoteTotals; seconded: VoteTotals }, from: number, to: number, half: number): void {
    const { offsets, peer, x, z, judged, seconded } = this;
    const claims = this.#claims;
    const voice = this.#voice;
    const { lowering, raising } = totals.judged;
    const { lowering: secondedLowering, raising: secondedRaising } = totals.seconded;
    for (let i = from; i < to; i++) {
      const first = offsets[i]!;
      const end = offsets[i + 1]!;
      if (end - first === 1) {
        judged[first] = 0;
        seconded[first] = 0;
        continue;
      }
      let sum = 0;
      let twoSided = 0;
      for (let e = first; e < end; e++) {
        sum += voice[e]!;
        twoSided += this.#claimVoice(e) * z[peer[e]!]!;
      }
      for (let e = first; e < end; e++) {
        const j = peer[e]!;
        const n1 = cappedMass(claims[e]!);
        const twoSidedOthers = Math.max(0, twoSided - this.#claimVoice(e) * z[j]!);
        const others = Math.max(0, sum - voice[e]!);
        const agreement = (n1 * twoSidedOthers) / (twoSidedOthers + half);
        const agreementOfAny = (n1 * others) / (others + half);
        const vote = x[e]!;
        judged[e] = agreement;
        seconded[e] = agreementOfAny;
        lowering[j]! += agreement * vote;
        raising[j]! += agreement * (1 - vote);
        secondedLowering[j]! += agreementOfAny * vote;
        secondedRaising[j]! += agreementOfAny * (1 - vote);
      }
    }
  }

  /** If little volume is two-sided, no peer counts in full: a single such peer must not judge all others. */
  #groupScale({ claimVolume }: VoteSums, tau: Float64Array, c: TrustConstants): number {
    let twoSided = 0;
    let all = 0;
    tau.forEach((t, j) => {
      const share = t * Math.min(claimVolume[j]!, c.twoSidedVolumeMax);
      twoSided += share * this.z[j]!;
      all += share;
    });
    return Math.min(1, twoSided / Math.max(all, c.massMin) / c.twoSidedShare);
  }

  #scale(by: number): void {
    if (by === 1) return;
    const { lowering, raising } = this.judgedTotals;
    for (const column of [this.z, lowering, raising]) for (let j = 0; j < column.length; j++) column[j]! *= by;
    inBlocks(this.players, this.yieldCore, (from, to) => {
      for (let e = this.offsets[from]!; e < this.offsets[to]!; e++) this.judged[e]! *= by;
    });
  }

  #pull(from: number, to: number): void {
    const { offsets, peer, z, pull, known } = this;
    const claims = this.#claims;
    for (let i = from; i < to; i++) {
      let seen = 0;
      for (let e = offsets[i]!; e < offsets[i + 1]!; e++) {
        const j = peer[e]!;
        seen += this.#claimVoice(e) * z[j]!;
        pull[e]! *= strength(saturate(claims[e]!), z[j]!);
      }
      known[i] = seen / (seen + 1);
    }
  }

  /** Copies every `stride`-th player: in place, each would lie on cache lines that every round reads anew. */
  every(stride: number, scratch: Scratch): Look {
    const players = Math.ceil(this.players / stride);
    const peers = this.z.length;
    let votes = 0;
    inBlocks(players, this.yieldCore, (first, end) => {
      votes += this.#votes(stride, first, end);
    });
    const to = {
      players,
      offsets: scratch.uint32(players + 1),
      peer: scratch.uint16(votes),
      x: scratch.float64(votes),
      pull: scratch.float64(votes),
      measured: scratch.float64(votes),
      measuredTotals: new Float64Array(peers),
      measuredVotes: 0,
      judged: scratch.float64(votes),
      seconded: scratch.float64(votes),
      judgedTotals: noTotals(peers),
      secondedTotals: noTotals(peers),
      known: scratch.float64(players),
    };
    to.offsets[0] = 0;
    inBlocks(players, this.yieldCore, (first, end) => this.#copy(to, stride, first, end));
    return to;
  }

  /** Number of votes on the sampled players from the `first` up to the `end`-th. */
  #votes(stride: number, first: number, end: number): number {
    let votes = 0;
    for (let n = first; n < end; n++) votes += this.offsets[n * stride + 1]! - this.offsets[n * stride]!;
    return votes;
  }

  #copy(to: Look, stride: number, first: number, end: number): void {
    const { offsets, peer, x, pull, measured, judged, seconded, known } = this;
    for (let n = first; n < end; n++) {
      const i = n * stride;
      let at = to.offsets[n]!;
      for (let e = offsets[i]!; e < offsets[i + 1]!; e++) {
        const j = peer[e]!;
        to.peer[at] = j;
        to.x[at] = x[e]!;
        to.pull[at] = pull[e]!;
        to.measured[at] = measured[e]!;
        if (measured[e]! > 0) {
          to.measuredTotals[j]! += measured[e]!;
          to.measuredVotes++;
        }
        to.judged[at] = judged[e]!;
        to.seconded[at] = seconded[e]!;
        to.judgedTotals.lowering[j]! += judged[e]! * x[e]!;
        to.judgedTotals.raising[j]! += judged[e]! * (1 - x[e]!);
        to.secondedTotals.lowering[j]! += seconded[e]! * x[e]!;
        to.secondedTotals.raising[j]! += seconded[e]! * (1 - x[e]!);
        at++;
      }
      to.known[n] = known[i]!;
      to.offsets[n + 1] = at;
    }
  }
}

/** `min(lowering, raising) / (min + 3)`, in [0, 1): 0 for a peer that votes in one direction only. */
function twoSidedness(lowering: number, raising: number, c: TrustConstants): number {
  const both = Math.min(lowering, raising);
  return both / (both + c.twoSidedVotes);
}

function noTotals(peers: number) {
  return { lowering: new Float64Array(peers), raising: new Float64Array(peers) };
}
