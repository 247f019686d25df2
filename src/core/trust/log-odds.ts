/**
 * Computes stage 2 of peer trust: the log-odds of a bad vote (A) and of a good one (B) of each peer, and the group's
 * share of bad players (docs/SCORING.md, "The log-odds"). A two-sided peer is judged by other two-sided peers. A peer
 * that only reports has a cautious constant, which moves with the comparison of its reports with the group's mean,
 * never with the number of others that repeat them. So has a measure (M), which moves with what the others say about
 * the players whom its peer measured. Takes a fixed number of rounds over all votes.
 */
import { logit } from '../evidence/evidence.js';
import { sigmoid } from '../evidence/sigmoid.js';
import type { TrustConstants } from '../evidence/trust-constants.js';
import { inBlocks } from './votes/scratch.js';
import { type FitInput, type Heard, type Look, type VoteTotals, WeighedVotes } from './weighed-votes.js';

interface Odds {
  readonly a: Float64Array;
  readonly b: Float64Array;
  /** Log-odds of a standing measure, in [0, 4]. */
  readonly m: Float64Array;
}

export interface LogOdds extends Odds {
  /** Two-sidedness, in [0, 1). */
  readonly z: Float64Array;
  /** Share of bad players, in (0, 1). */
  readonly pi: number;
  /** Per peer: 1 if it took measures that count. */
  readonly measured: Uint8Array;
  /** Log-odds of a vote by which the last round judged players. Valid while the scratch memory is. */
  readonly spoken: (vote: number) => number;
}

export function fitLogOdds(input: FitInput): LogOdds {
  const { votes, heard, preTrusted, c, scratch } = input;
  // Early rounds need not use all players, because the last rounds correct them: in a large group they use a sample.
  const stride = Math.max(
    1,
    Math.floor(votes.players / Math.max(c.firstRoundsPlayers, c.firstRoundsPerPeer * votes.peers)),
  );
  const weighed = new WeighedVotes(input, stride);
  const { z } = weighed;
  const measuredVotes = {
    diffs: scratch.float64(weighed.measuredVotes),
    votes: scratch.uint32(weighed.measuredVotes),
  };
  let rates: Rates = { pi: c.badSharePrior, recall: c.recallPrior, specificity: c.specificityPrior };
  let odds = oddsAtFirst(z, heard, c);
  let oddsUsed = odds;
  const part = stride > 1 ? weighed.every(stride, scratch) : weighed;
  for (let i = 0; i < c.rounds; i++) {
    const look = i < c.rounds - c.fullRounds ? part : weighed;
    const judged = new Judged(weighed, look, odds, heard, rates.pi, measuredVotes, c);
    const records = judged.records(c);
    rates = groupRates(judged.pi(c), records, z, heard.tau, c);
    oddsUsed = odds;
    odds = {
      ...oddsOf(records, rates, z, heard, preTrusted, c),
      m: measureOdds(judged.othersOnMeasured(rates.pi), weighed.measuredTotals, heard, preTrusted, c),
    };
  }
  const speaks = (e: number) => spokenOdds(weighed, oddsUsed, heard, e);
  const measured = Uint8Array.from(weighed.measuredTotals, (sum) => (sum > 0 ? 1 : 0));
  return { ...odds, z, pi: rates.pi, measured, spoken: speaks };
}

/** Log-odds of a vote: those of its measure, unless its claims say more. The votes of an origin say nothing. */
function spokenOdds({ peer, x, pull, measured }: Look, { a, b, m }: Odds, { tau }: Heard, e: number): number {
  const j = peer[e]!;
  const claims = pull[e]! * (x[e]! * a[j]! - (1 - x[e]!) * b[j]!);
  return measured[e]! > 0 && tau[j]! > 0 ? Math.max(claims, measured[e]! * m[j]!) : claims;
}

interface Rates {
  readonly pi: number;
  /** Probability that a two-sided peer of the group is right about a bad player, and about a good one. */
  readonly recall: number;
  readonly specificity: number;
}

function oddsAtFirst(z: Float64Array, { finds, findsClaim }: Heard, c: TrustConstants): Odds {
  const bad = Math.log(c.recallPrior / (1 - c.specificityPrior));
  const good = Math.log(c.specificityPrior / (1 - c.recallPrior));
  return {
    a: z.map((share, j) => (share * bad + (1 - share) * c.reportOdds) * findsClaim[j]!),
    b: z.map((share) => share * good + (1 - share) * c.praiseOdds),
    m: finds.map((share) => c.measureOdds * share),
  };
}

type PeerRecord = ReturnType<Judged['records']>[number];

/** Sums per peer over votes: their weight x `q`, and its lowering part, as judged by two-sided peers and by any. */
const SUMS = 4;
const JUDGED = 0;
const SECONDED = 2;

interface MeasuredVotes {
  /** The others' word about the vote's player, as a difference in log-odds to the prior. */
  readonly diffs: Float64Array;
  readonly votes: Uint32Array;
}

/** One round over the votes on some players: `q = sigmoid(logit pi + l)` of each, and the hits of its peers. */
class Judged {
  readonly #sums: Float64Array;
  #measuredEnd = 0;
  /** Sums over these players: of `known`, the evidence of two-sided peers, and of `known` times `q`. */
  #known = 0;
  #knownBad = 0;

  constructor(
    private readonly weighed: WeighedVotes,
    private readonly look: Look,
    { a, b, m }: Odds,
    { tau }: Heard,
    pi: number,
    private readonly ofMeasures: MeasuredVotes,
    { measureOthersMax }: TrustConstants,
  ) {
    this.#sums = new Float64Array(SUMS * a.length);
    const prior = logit(pi);
    const both = a.map((odds, j) => odds + b[j]!);
    // The measures of an origin are judged and do not judge.
    const heard = m.map((odds, j) => (tau[j]! > 0 ? odds : 0));
    inBlocks(look.players, weighed.yieldCore, (from, to) =>
      this.#judge(from, to, both, b, heard, prior, measureOthersMax),
    );
  }

  /** `both`: per peer `A + B`, since `x A - (1 - x) B = x (A + B) - B`. */
  #judge(
    from: number,
    to: number,
    both: Float64Array,
    b: Float64Array,
    m: Float64Array,
    prior: number,
    othersMax: number,
  ): void {
    const { offsets, peer, x, pull, measured, judged, seconded, known } = this.look;
    const { diffs, votes } = this.ofMeasures;
    const sums = this.#sums;
    let knownSum = 0;
    let knownBad = 0;
    for (let i = from; i < to; i++) {
      const start = offsets[i]!;
      const end = offsets[i + 1]!;
      // Starts from 0 and not from the prior, because V8 creates an object per player for a sum that starts with an
      // argument.
      let logOdds = 0;
      let measures = 0;
      for (let e = start; e < end; e++) {
        const j = peer[e]!;
        const claims = pull[e]! * (x[e]! * both[j]! - b[j]!);
        if (measured[e] === 0) logOdds += claims;
        else {
          logOdds += Math.max(claims, measured[e]! * m[j]!);
          measures++;
        }
      }
      for (let e = start; e < end && measures > 0; e++) {
        if (measured[e] === 0) continue;
        const j = peer[e]!;
        const own = Math.max(pull[e]! * (x[e]! * both[j]! - b[j]!), measured[e]! * m[j]!);
        diffs[this.#measuredEnd] = Math.min(othersMax, Math.max(-othersMax, logOdds - own));
        votes[this.#measuredEnd++] = e;
        measures--;
      }
      const q = sigmoid(prior + logOdds);
      knownSum += known[i]!;
      knownBad += known[i]! * q;
      // A lone vote cannot be judged by other peers.
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

  /** Returns the group's share of bad players, extrapolated to all of them. */
  pi(c: TrustConstants): number {
    const scale = this.#isPart ? this.weighed.players / this.look.players : 1;
    const pi =
      (this.#knownBad * scale + c.badSharePriorMass * c.badSharePrior) / (this.#known * scale + c.badSharePriorMass);
    return Math.min(c.badShareMax, Math.max(c.badShareMin, pi));
  }

  /** Returns, per peer, the weight of its measures x the probability, by others and `pi`, that the player is bad. */
  othersOnMeasured(pi: number): Float64Array {
    const { peer, measured, measuredTotals } = this.look;
    const { diffs, votes } = this.ofMeasures;
    const prior = logit(pi);
    const sums = new Float64Array(measuredTotals.length);
    for (let at = 0; at < this.#measuredEnd; at++) {
      const e = votes[at]!;
      sums[peer[e]!]! += measured[e]! * sigmoid(prior + diffs[at]!);
    }
    if (!this.#isPart) return sums;
    const { measuredTotals: all } = this.weighed;
    return sums.map((sum, j) => (measuredTotals[j]! > 0 ? (sum * all[j]!) / measuredTotals[j]! : 0));
  }

  records(c: TrustConstants) {
    const { judgedTotals, secondedTotals } = this.weighed;
    return Array.from(judgedTotals.lowering, (_, j) => ({
      judged: this.#hits(JUDGED, this.look.judgedTotals, judgedTotals, j, c),
      seconded: this.#hits(SECONDED, this.look.secondedTotals, secondedTotals, j, c),
      /** All of the peer's lowering and raising votes on players that others reported, too. */
      lowering: secondedTotals.lowering[j]!,
      raising: secondedTotals.raising[j]!,
    }));
  }

  /**
   * Returns a peer's weighted votes: all on bad and on good players, and the right ones among them. Extrapolated to all
   * players by one factor, so that rates stay within 0 and 1.
   */
  #hits(at: number, part: VoteTotals, all: VoteTotals, j: number, c: TrustConstants) {
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
    return this.look !== this.weighed;
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

function oddsOf(
  records: readonly PeerRecord[],
  rates: Rates,
  z: Float64Array,
  { tau, findsClaim }: Heard,
  preTrusted: Uint8Array,
  c: TrustConstants,
): Pick<Odds, 'a' | 'b'> {
  const found = tau.map((t, j) => t * findsClaim[j]!);
  const allReports = c.lowMeanRight / Math.max(rates.pi, c.badShareForMeanMin);
  const reportsOf: RightOfAll = ({ seconded, lowering }) => [seconded.badRight, lowering];
  const praiseOf: RightOfAll = ({ seconded, raising }) => [seconded.goodRight, raising];
  const reports = rightShare(c.lowMeanRight, allReports, records, found, reportsOf);
  const praise = rightShare(c.highMeanRight, c.highMeanAll, records, tau, praiseOf);
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
    const leastA = isPreTrusted ? mixed(z[j]!, c.logOddsMinPreTrusted, c.reportOdds) : 0;
    odds.a[j] = Math.max(leastA, bounded(a, 0, c) * findsClaim[j]!);
    odds.b[j] = bounded(b, isPreTrusted ? mixed(z[j]!, c.logOddsMinPreTrusted, c.praiseOdds) : 0, c);
  });
  return odds;
}

/** Right votes of a peer in one direction, and all of them. */
type RightOfAll = (record: PeerRecord) => readonly [right: number, all: number];

/** Share of right votes, over all peers weighted by `tau`, from a prior of `right` and `all` votes. */
function rightShare(right: number, all: number, records: readonly PeerRecord[], tau: Float64Array, of: RightOfAll) {
  const sums = { right, all };
  records.forEach((record, j) => {
    const [ofPeer, allOfPeer] = of(record);
    sums.right += tau[j]! * ofPeer;
    sums.all += tau[j]! * allOfPeer;
  });
  return sums.right / sums.all;
}

/** Difference between the log-odds of a peer's right votes and those of the group's mean, within bounds. */
function compared(right: number, all: number, mean: number, c: TrustConstants): number {
  const own = rate((c.relativePrior * mean + right) / (c.relativePrior + all), c);
  return Math.min(c.relativeUp, Math.max(-c.relativeDown, logit(own) - logit(mean)));
}

/**
 * Computes M: a constant, moved by the others' word about the measured players. `others`: per peer, its measures'
 * weights x the probability, by others, of a bad player; `totals`: the weights.
 */
function measureOdds(
  others: Float64Array,
  totals: Float64Array,
  { tau, finds }: Heard,
  preTrusted: Uint8Array,
  c: TrustConstants,
): Float64Array {
  let right = c.measureMean * c.measureMeanMass;
  let all = c.measureMeanMass;
  others.forEach((sum, j) => {
    right += tau[j]! * finds[j]! * sum;
    all += tau[j]! * finds[j]! * totals[j]!;
  });
  const mean = Math.min(c.measureMeanMax, Math.max(c.measureMeanMin, right / all));
  return others.map((sum, j) => {
    const own = rate((c.measurePrior * mean + sum) / (c.measurePrior + totals[j]!), c);
    const change = Math.min(c.measureUp, Math.max(-c.measureDown, logit(own) - logit(mean)));
    const odds = Math.min(c.measureOddsMax, Math.max(0, c.measureOdds + change)) * finds[j]!;
    return preTrusted[j] === 1 ? Math.max(c.measureOdds, odds) : odds;
  });
}

function mixed(z: number, twoSided: number, oneSided: number): number {
  return z * twoSided + (1 - z) * oneSided;
}

function rate(p: number, { rateMin }: TrustConstants): number {
  return Math.min(1 - rateMin, Math.max(rateMin, p));
}

/** Never negative: a known liar could otherwise whitewash friends by reporting them. */
function bounded(logOdds: number, least: number, { logOddsMax }: TrustConstants): number {
  return Math.max(least, Math.min(logOddsMax, Math.max(0, logOdds)));
}
