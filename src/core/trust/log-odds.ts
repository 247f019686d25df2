/**
 * Stage 2 of peer trust: what a bad vote (A) and a good one (B) of each peer tell, in log-odds, and the group's share
 * of bad players (scoring page, "Peer trust, stage 2"). A fixed number of rounds over all votes.
 */
import { logit } from '../evidence.js';
import { sigmoid } from '../sigmoid.js';
import type { TrustConstants } from '../trust-constants.js';
import { inBlocks } from './blocks.js';
import type { Scratch } from './scratch.js';
import type { VoteSums } from './vote-sums.js';
import type { Votes } from './votes.js';
import { type Look, WeighedVotes } from './weighed-votes.js';

export interface LogOdds {
  readonly a: Float64Array;
  readonly b: Float64Array;
  /** Share of bad players, in (0, 1). */
  readonly pi: number;
}

/** `votes`: all of the group's or a sample of them, and `sums` of all or of another; `tau` in [0, 1] and `preTrusted` (one byte) per peer. */
export function fitLogOdds(
  votes: Votes,
  sums: VoteSums,
  tau: Float64Array,
  preTrusted: Uint8Array,
  c: TrustConstants,
  scratch: Scratch,
): LogOdds {
  const weighed = new WeighedVotes(votes, sums, tau, c, scratch);
  const a = new Float64Array(votes.peers).fill(c.priorLogOdds);
  const b = new Float64Array(votes.peers).fill(c.priorLogOdds);
  let pi: number = c.badShareStart;
  // What the last rounds settle need not be found out over all players: in a large group the first ones look at a part.
  const stride = Math.max(
    1,
    Math.floor(votes.players / Math.max(c.firstRoundsPlayers, c.firstRoundsPerPeer * votes.peers)),
  );
  const part = stride > 1 ? weighed.every(stride, scratch) : weighed;
  for (let i = 0; i < c.rounds; i++) {
    const round = new Round(weighed, i < c.rounds - c.fullRounds ? part : weighed, a, b, pi);
    pi = round.pi(c);
    const records = round.records(c);
    const group = groupRates(records, weighed.corroborated, tau, c);
    records.forEach((record, j) => {
      const odds = peerLogOdds(record, group, pi, preTrusted[j] === 1, c);
      a[j] = odds.a;
      b[j] = odds.b;
    });
  }
  return { a: a.map((fitted, j) => sharpened(fitted, weighed.nb[j]!, weighed.ng[j]!, c)), b, pi };
}

/** What the players' states say of one peer's votes in one round, in votes by `om`. */
interface PeerRecord {
  /** `pos = sum om q` and `neg = sum om (1 - q)`: on bad and on good players. */
  readonly pos: number;
  readonly neg: number;
  /** `pb = sum om x q` and `ok = sum om (1 - x)(1 - q)`: of these the right ones. */
  readonly pb: number;
  readonly ok: number;
  /** `nb = sum om x` and `ng = sum om (1 - x)`: bad and good votes. */
  readonly nb: number;
  readonly ng: number;
}

/** One round over the votes on some players: the `q = sigmoid(logit pi + L)` of each, and what that says of its peers. */
class Round {
  readonly #weighed: WeighedVotes;
  readonly #look: Look;
  /** Per peer `sum om q` and `sum om x q`, over the players of the look. */
  readonly #bad: Float64Array;
  readonly #hits: Float64Array;
  /** `sum c` and `sum c q` over these players. */
  #known = 0;
  #knownBad = 0;

  constructor(weighed: WeighedVotes, look: Look, a: Float64Array, b: Float64Array, pi: number) {
    this.#weighed = weighed;
    this.#look = look;
    this.#bad = new Float64Array(a.length);
    this.#hits = new Float64Array(a.length);
    const prior = logit(pi);
    const both = a.map((odds, j) => odds + b[j]!);
    inBlocks(look.players, weighed.pause, (from, to) => this.#judge(from, to, both, b, prior));
  }

  /** `both`: per peer `A + B`, since `x A - (1 - x) B = x (A + B) - B`. */
  #judge(from: number, to: number, both: Float64Array, b: Float64Array, prior: number): void {
    const { offsets, peer, x, pull, told, known } = this.#look;
    const bad = this.#bad;
    const hits = this.#hits;
    let knownSum = 0;
    let knownBad = 0;
    for (let i = from; i < to; i++) {
      const start = offsets[i]!;
      const end = offsets[i + 1]!;
      // From 0, not from the prior: of a sum that begins with what was handed over V8 makes an object for each player.
      let logOdds = 0;
      for (let e = start; e < end; e++) {
        const j = peer[e]!;
        logOdds += pull[e]! * (x[e]! * both[j]! - b[j]!);
      }
      const q = sigmoid(prior + logOdds);
      knownSum += known[i]!;
      knownBad += known[i]! * q;
      for (let e = start; e < end; e++) {
        const j = peer[e]!;
        const toldBad = told[e]! * q;
        bad[j]! += toldBad;
        hits[j]! += toldBad * x[e]!;
      }
    }
    this.#known += knownSum;
    this.#knownBad += knownBad;
  }

  /** The group's share of bad players, as over all of them. */
  pi(c: TrustConstants): number {
    const scale = this.#isPart ? this.#weighed.players / this.#look.players : 1;
    const pi =
      (this.#knownBad * scale + c.badSharePriorMass * c.badSharePrior) / (this.#known * scale + c.badSharePriorMass);
    return Math.min(this.#weighed.piMax, Math.max(c.badShareMin, pi));
  }

  /** Of every peer, as over all players. */
  records(c: TrustConstants): PeerRecord[] {
    const { nb, ng } = this.#look;
    return Array.from(this.#bad, (bad, j) => {
      const scale = this.#scaleOf(j, c);
      return recordOf(bad * scale, this.#hits[j]! * scale, nb[j]! * scale, ng[j]! * scale);
    });
  }

  /** What a peer's sums over these players are brought by to what they would be over all: one factor, so that a rate stays within 0 and 1. */
  #scaleOf(j: number, c: TrustConstants): number {
    const { nb, ng } = this.#look;
    const all = this.#weighed;
    return this.#isPart ? (all.nb[j]! + all.ng[j]!) / Math.max(c.massMin, nb[j]! + ng[j]!) : 1;
  }

  get #isPart(): boolean {
    return this.#look !== this.#weighed;
  }
}

/** om (1-x)(1-q) and om (1-q) need no sums of their own: om x + om (1-x) = om. */
function recordOf(pos: number, pb: number, nb: number, ng: number): PeerRecord {
  return { pos, neg: Math.max(0, nb + ng - pos), pb, ok: Math.max(0, ng - pos + pb), nb, ng };
}

/** Log-odds that a vote of the group's peers is right, on a bad player and on a good one. */
interface GroupRates {
  readonly onBad: number;
  readonly onGood: number;
}

/** Over peers by their gates; a peer counts with its corroborated votes, and with `groupVotesMax` at most. */
function groupRates(
  records: readonly PeerRecord[],
  corroborated: Float64Array,
  tau: Float64Array,
  c: TrustConstants,
): GroupRates {
  const prior = c.groupPriorVotes * sigmoid(c.priorLogOdds);
  let pb = prior;
  let ok = prior;
  let pos = c.groupPriorVotes;
  let neg = c.groupPriorVotes;
  records.forEach((record, j) => {
    const counting = Math.min(corroborated[j]!, c.groupVotesMax);
    const part = (tau[j]! * counting) / Math.max(c.massMin, record.nb + record.ng);
    pb += part * record.pb;
    ok += part * record.ok;
    pos += part * record.pos;
    neg += part * record.neg;
  });
  return { onBad: logit(pb / pos), onGood: logit(ok / neg) };
}

/**
 * A and B of one peer from its record: from how it hits bad and good players (s, c) for a peer that votes both ways,
 * towards how often its votes are right (ppv, npv) for one that only ever votes one way. The prior of s and c leans
 * towards the group's rates: a peer sees few bad players, and what its group is like tells more than a fixed number.
 */
function peerLogOdds(
  { pos, neg, pb, ok, nb, ng }: PeerRecord,
  group: GroupRates,
  pi: number,
  preTrusted: boolean,
  c: TrustConstants,
): { a: number; b: number } {
  const k = preTrusted ? c.priorVotesPreTrusted : c.priorVotes;
  const k1 = preTrusted ? c.priorVotesPreTrusted : c.priorVotesOneWay;
  const a0 = preTrusted ? c.priorLogOddsPreTrusted : c.priorLogOdds;
  const priorRate = (ofGroup: number) => sigmoid(a0 + c.groupPriorPart * (ofGroup - a0));
  const hitsBad = (k * priorRate(group.onBad) + pb) / (k + pos);
  const hitsGood = (k * priorRate(group.onGood) + ok) / (k + neg);
  const ppv = precision((k1 * sigmoid(a0 + logit(pi)) + pb) / (k1 + nb), c);
  const npv = precision((k1 * sigmoid(a0 - logit(pi)) + ok) / (k1 + ng), c);
  const z = twoSided(nb, ng, c);
  const a = z * Math.log(hitsBad / (1 - hitsGood)) + (1 - z) * (logit(ppv) - logit(pi));
  const b = z * Math.log(hitsGood / (1 - hitsBad)) + (1 - z) * (logit(npv) + logit(pi));
  return { a: bounded(a, preTrusted, c), b: bounded(b, preTrusted, c) };
}

/** `z`, in [0, 1): 0 for a peer that only ever votes one way. */
function twoSided(nb: number, ng: number, c: TrustConstants): number {
  const two = Math.min(nb, ng);
  return two / (two + c.twoSidedVotes);
}

/**
 * After the last round, never within: fed back it would confirm itself. Mixed votes and players in doubt blur the rate
 * of bad votes on good players, which is small, more than any other, so that A comes out low.
 */
function sharpened(a: number, nb: number, ng: number, c: TrustConstants): number {
  return Math.min(c.logOddsMax, a * (1 + c.badVoteGain * twoSided(nb, ng, c)));
}

function precision(p: number, c: TrustConstants): number {
  return Math.min(c.precisionMax, Math.max(c.precisionMin, p));
}

/** Never inverted: a known liar could otherwise whitewash friends by reporting them. */
function bounded(logOdds: number, preTrusted: boolean, c: TrustConstants): number {
  return Math.min(c.logOddsMax, Math.max(preTrusted ? c.logOddsMinPreTrusted : 0, logOdds));
}
