/**
 * Stage 2 of peer trust: what a bad vote (A) and a good one (B) of each peer tell, in log-odds, and the group's share
 * of bad players (docs/SCORING.md, "Log-odds"). A two-sided peer is judged by two-sided others; one that only reports
 * has a cautious constant, moved by how its reports compare with the group's mean, never by how often others repeat
 * them. A fixed number of rounds over all votes.
 */
import { logit } from '../evidence/evidence.js';
import { sigmoid } from '../evidence/sigmoid.js';
import type { TrustConstants } from '../evidence/trust-constants.js';
import type { VoteSums } from './sums/vote-sums.js';
import { inBlocks } from './votes/blocks.js';
import type { Scratch } from './votes/scratch.js';
import type { Votes } from './votes/votes.js';
import { type Look, type VoteTotals, WeighedVotes } from './weighed-votes.js';
import type { Witnesses } from './witnesses.js';

/** Per peer. */
interface Odds {
  readonly a: Float64Array;
  readonly b: Float64Array;
}

export interface LogOdds extends Odds {
  /** Two-sidedness, in [0, 1). */
  readonly z: Float64Array;
  /** Share of bad players, in (0, 1). */
  readonly pi: number;
  /** Per vote `tau n`, 0 where another peer speaks for the witness; the scratch's. */
  readonly pull: Float64Array;
  /** What the last round judged players by. */
  readonly oddsUsed: Odds;
}

/**
 * `votes`: all of the group's or a sample of them, and `sums` of all or of another; `tau` in [0, 1] and `preTrusted`
 * (one byte) per peer.
 */
export function fitLogOdds(
  votes: Votes,
  sums: VoteSums,
  tau: Float64Array,
  witnesses: Witnesses,
  preTrusted: Uint8Array,
  c: TrustConstants,
  scratch: Scratch,
): LogOdds {
  // What the last rounds settle need not be found out over all players: in a large group the first ones look at a part.
  const stride = Math.max(
    1,
    Math.floor(votes.players / Math.max(c.firstRoundsPlayers, c.firstRoundsPerPeer * votes.peers)),
  );
  const weighed = new WeighedVotes(votes, sums, tau, witnesses, stride, c, scratch);
  const { z } = weighed;
  let rates: Rates = { pi: c.badSharePrior, recall: c.recallPrior, specificity: c.specificityPrior };
  let odds = oddsAtFirst(z, c);
  let oddsUsed = odds;
  const part = stride > 1 ? weighed.every(stride, scratch) : weighed;
  for (let i = 0; i < c.rounds; i++) {
    const judged = new Judged(weighed, i < c.rounds - c.fullRounds ? part : weighed, odds, rates.pi);
    const records = judged.records(c);
    rates = groupRates(judged.pi(c), records, z, tau, c);
    oddsUsed = odds;
    odds = oddsOf(records, rates, z, tau, preTrusted, c);
  }
  return { ...odds, z, pi: rates.pi, pull: weighed.pull, oddsUsed };
}

/** What the group is like together. */
interface Rates {
  /** Share of bad players. */
  readonly pi: number;
  /** How often a two-sided peer of the group is right about a bad player, and about a good one. */
  readonly recall: number;
  readonly specificity: number;
}

function oddsAtFirst(z: Float64Array, c: TrustConstants): Odds {
  const bad = Math.log(c.recallPrior / (1 - c.specificityPrior));
  const good = Math.log(c.specificityPrior / (1 - c.recallPrior));
  return {
    a: z.map((share) => share * bad + (1 - share) * c.reportOdds),
    b: z.map((share) => share * good + (1 - share) * c.praiseOdds),
  };
}

/** Weighted votes of one peer by the state of their players: on bad and on good ones, and of these the right ones. */
interface Hits {
  readonly bad: number;
  readonly good: number;
  readonly badRight: number;
  readonly goodRight: number;
}

interface PeerRecord {
  /** By two-sided others, and by others of any kind. */
  readonly judged: Hits;
  readonly seconded: Hits;
  /** All of the peer's lowering and raising votes, as far as others of any kind speak of their players. */
  readonly lowering: number;
  readonly raising: number;
}

/**
 * Sums per peer over the votes on some players, four side by side: of the weight of each vote by `q`, and the lowering
 * part of that, as judged and as seconded.
 */
const SUMS = 4;
const JUDGED = 0;
const SECONDED = 2;

/**
 * One round over the votes on some players: the `q = sigmoid(logit pi + l)` of each, and what that says of its peers.
 */
class Judged {
  readonly #weighed: WeighedVotes;
  readonly #look: Look;
  readonly #sums: Float64Array;
  /** Over these players: sums of how far they are known, and of that by `q`. */
  #known = 0;
  #knownBad = 0;

  constructor(weighed: WeighedVotes, look: Look, { a, b }: Odds, pi: number) {
    this.#weighed = weighed;
    this.#look = look;
    this.#sums = new Float64Array(SUMS * a.length);
    const prior = logit(pi);
    const both = a.map((odds, j) => odds + b[j]!);
    inBlocks(look.players, weighed.yieldCore, (from, to) => this.#judge(from, to, both, b, prior));
  }

  /** `both`: per peer `A + B`, since `x A - (1 - x) B = x (A + B) - B`. */
  #judge(from: number, to: number, both: Float64Array, b: Float64Array, prior: number): void {
    const { offsets, peer, x, pull, judged, seconded, known } = this.#look;
    const sums = this.#sums;
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
      // Nobody else tells anything about a lone vote.
      if (end - start === 1) continue;
      for (let e = start; e < end; e++) {
        const at = peer[e]! * SUMS;
        const vote = x[e]!;
        const judgedBad = judged[e]! * q;
        const secondedBad = seconded[e]! * q;
        sums[at]! += judgedBad;
        sums[at + 1]! += judgedBad * vote;
        sums[at + 2]! += secondedBad;
        sums[at + 3]! += secondedBad * vote;
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
    return Math.min(c.badShareMax, Math.max(c.badShareMin, pi));
  }

  /** Of every peer, as over all players. */
  records(c: TrustConstants): PeerRecord[] {
    const { judgedTotals, secondedTotals } = this.#weighed;
    return Array.from(judgedTotals.lowering, (_, j) => ({
      judged: this.#hits(JUDGED, this.#look.judgedTotals, judgedTotals, j, c),
      seconded: this.#hits(SECONDED, this.#look.secondedTotals, secondedTotals, j, c),
      lowering: secondedTotals.lowering[j]!,
      raising: secondedTotals.raising[j]!,
    }));
  }

  /**
   * A peer's sums over the players of the look, brought by one factor to what they would be over all: a rate stays
   * within 0 and 1. Good players need no sums of their own.
   */
  #hits(at: number, part: VoteTotals, all: VoteTotals, j: number, c: TrustConstants): Hits {
    const bad = this.#sums[j * SUMS + at]!;
    const badRight = this.#sums[j * SUMS + at + 1]!;
    const total = part.lowering[j]! + part.raising[j]!;
    const scale = this.#isPart ? (all.lowering[j]! + all.raising[j]!) / Math.max(c.massMin, total) : 1;
    return {
      bad: bad * scale,
      good: Math.max(0, total - bad) * scale,
      badRight: badRight * scale,
      goodRight: Math.max(0, part.raising[j]! - bad + badRight) * scale,
    };
  }

  get #isPart(): boolean {
    return this.#look !== this.#weighed;
  }
}

function groupRates(
  pi: number,
  records: readonly PeerRecord[],
  z: Float64Array,
  tau: Float64Array,
  c: TrustConstants,
): Rates {
  let [badRight, bad] = [c.poolPrior * c.recallPrior, c.poolPrior];
  let [goodRight, good] = [c.poolPrior * c.specificityPrior, c.poolPrior];
  records.forEach(({ judged }, j) => {
    const part = z[j]! * tau[j]!;
    badRight += part * judged.badRight;
    bad += part * judged.bad;
    goodRight += part * judged.goodRight;
    good += part * judged.good;
  });
  return { pi, recall: badRight / bad, specificity: goodRight / good };
}

/** A and B of every peer from its record. */
function oddsOf(
  records: readonly PeerRecord[],
  rates: Rates,
  z: Float64Array,
  tau: Float64Array,
  preTrusted: Uint8Array,
  c: TrustConstants,
): Odds {
  const reports = rightOfReports(records, rates.pi, tau, c);
  const praise = rightOfPraise(records, tau, c);
  const odds = { a: new Float64Array(records.length), b: new Float64Array(records.length) };
  records.forEach((record, j) => {
    const { judged, seconded } = record;
    const isPreTrusted = preTrusted[j] === 1;
    const prior = c.peerPrior * (isPreTrusted ? c.preTrustedPrior : 1);
    const onBad = rate((prior * rates.recall + judged.badRight) / (prior + judged.bad), c);
    const onGood = rate((prior * rates.specificity + judged.goodRight) / (prior + judged.good), c);
    const report = Math.max(0, c.reportOdds + compared(seconded.badRight, record.lowering, reports, c));
    const praised = Math.max(0, c.praiseOdds + compared(seconded.goodRight, record.raising, praise, c));
    const a = mixed(z[j]!, Math.log(onBad / (1 - onGood)), report);
    const b = mixed(z[j]!, Math.log(onGood / (1 - onBad)), praised);
    odds.a[j] = bounded(a, isPreTrusted ? mixed(z[j]!, c.logOddsMinPreTrusted, c.reportOdds) : 0, c);
    odds.b[j] = bounded(b, isPreTrusted ? mixed(z[j]!, c.logOddsMinPreTrusted, c.praiseOdds) : 0, c);
  });
  return odds;
}

/** Over all peers by their gates: the part of lowering votes that fall on bad players. */
function rightOfReports(records: readonly PeerRecord[], pi: number, tau: Float64Array, c: TrustConstants): number {
  let right = c.lowMeanRight;
  let all = c.lowMeanRight / Math.max(pi, c.badShareForMeanMin);
  records.forEach(({ seconded, lowering }, j) => {
    right += tau[j]! * seconded.badRight;
    all += tau[j]! * lowering;
  });
  return right / all;
}

/** Likewise: the part of raising votes that fall on good players. */
function rightOfPraise(records: readonly PeerRecord[], tau: Float64Array, c: TrustConstants): number {
  let right = c.highMeanRight;
  let all = c.highMeanAll;
  records.forEach(({ seconded, raising }, j) => {
    right += tau[j]! * seconded.goodRight;
    all += tau[j]! * raising;
  });
  return right / all;
}

/** By how much the log-odds of a peer's right votes differ from those of the group's mean, within bounds. */
function compared(right: number, all: number, mean: number, c: TrustConstants): number {
  const own = rate((c.relativePrior * mean + right) / (c.relativePrior + all), c);
  return Math.min(c.relativeUp, Math.max(-c.relativeDown, logit(own) - logit(mean)));
}

/** For a peer that is two-sided by the part `z`. */
function mixed(z: number, twoSided: number, oneSided: number): number {
  return z * twoSided + (1 - z) * oneSided;
}

function rate(p: number, { rateMin }: TrustConstants): number {
  return Math.min(1 - rateMin, Math.max(rateMin, p));
}

/** Never inverted: a known liar could otherwise whitewash friends by reporting them. */
function bounded(logOdds: number, least: number, { logOddsMax }: TrustConstants): number {
  return Math.max(least, Math.min(logOddsMax, Math.max(0, logOdds)));
}
