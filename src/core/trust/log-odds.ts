/**
 * Stage 2 of peer trust: what a bad vote (A) and a good one (B) of each peer tell, in log-odds, and the group's share
 * of bad players (scoring page, "Peer trust, stage 2"). A fixed number of rounds over all votes.
 */
import { damping, logit, saturate, sigmoid, unit } from '../evidence.js';
import { trustConstants } from '../trust-constants.js';
import type { Votes } from './votes.js';

const c = trustConstants;

export interface LogOdds {
  readonly a: Float64Array;
  readonly b: Float64Array;
  /** Share of bad players, in (0, 1). */
  readonly pi: number;
}

/** `tau` in [0, 1] and `preTrusted` (one byte) per peer. */
export function fitLogOdds(votes: Votes, tau: Float64Array, preTrusted: Uint8Array): LogOdds {
  const weighed = weigh(votes, tau);
  const a = new Float64Array(votes.peers).fill(c.priorLogOdds);
  const b = new Float64Array(votes.peers).fill(c.priorLogOdds);
  let pi: number = c.badShareStart;
  for (let round = 0; round < c.rounds; round++) {
    const judged = judge(votes, weighed, a, b, pi);
    pi = judged.pi;
    for (let j = 0; j < votes.peers; j++) {
      const odds = peerLogOdds(
        judged.bad[j]!,
        judged.hits[j]!,
        weighed.nb[j]!,
        weighed.ng[j]!,
        pi,
        preTrusted[j] === 1,
      );
      a[j] = odds.a;
      b[j] = odds.b;
    }
  }
  return { a, b, pi };
}

/** What stays the same in every round. */
interface Weighed {
  /** Per entry `tau n / deff`: how far the vote pulls its player's log-odds. */
  readonly pull: Float64Array;
  /** Per entry `om`: how much the player's state tells about the vote. */
  readonly told: Float64Array;
  /** Per player `c = M / (M + 1)`. */
  readonly known: Float64Array;
  /** Per peer `sum om x` and `sum om (1 - x)`. */
  readonly nb: Float64Array;
  readonly ng: Float64Array;
  /** Upper bound of the share of bad players. */
  readonly piMax: number;
}

function weigh(votes: Votes, tau: Float64Array): Weighed {
  const { peers, players, offsets, peer, mass, x } = votes;
  const pull = new Float64Array(peer.length);
  const told = new Float64Array(peer.length);
  const known = new Float64Array(players);
  const nb = new Float64Array(peers);
  const ng = new Float64Array(peers);
  const voters = votes.volume.reduce((count, volume) => count + (volume > 0 ? 1 : 0), 0);
  const floor = voters < c.corroboratedPeersMin ? 0 : c.corroborationFloor;
  for (let i = 0; i < players; i++) {
    const end = offsets[i + 1]!;
    let sum = 0;
    for (let e = offsets[i]!; e < end; e++) sum += tau[peer[e]!]! * unit(mass[e]!);
    const perDeff = 1 / damping(sum);
    known[i] = sum / (sum + 1);
    for (let e = offsets[i]!; e < end; e++) {
      const j = peer[e]!;
      const n1 = unit(mass[e]!);
      const others = Math.max(0, sum - tau[j]! * n1);
      const om = (n1 * (others + floor)) / (others + c.corroborationHalf);
      pull[e] = tau[j]! * saturate(mass[e]!) * perDeff;
      told[e] = om;
      nb[j]! += om * x[e]!;
      ng[j]! += om * (1 - x[e]!);
    }
  }
  return { pull, told, known, nb, ng, piMax: ceiling(votes, tau) };
}

/** `pimax = clip(G / (B + G) + .25, .2, .6)`, B and G the gated masses. */
function ceiling({ peers, volume, badVolume }: Votes, tau: Float64Array): number {
  let bad = 0;
  let good = 0;
  for (let j = 0; j < peers; j++) {
    bad += tau[j]! * badVolume[j]!;
    good += tau[j]! * (volume[j]! - badVolume[j]!);
  }
  const share = good / (bad + good + c.massMin);
  return Math.min(c.badShareCeilingMax, Math.max(c.badShareCeilingMin, share + c.badShareMargin));
}

interface Judged {
  /** Per peer `pos = sum om q`. */
  readonly bad: Float64Array;
  /** Per peer `pb = sum om x q`. */
  readonly hits: Float64Array;
  readonly pi: number;
}

/** One round over all votes: every player's `q = sigmoid(logit pi + L)`, and what it says of its peers. */
function judge(votes: Votes, weighed: Weighed, a: Float64Array, b: Float64Array, piBefore: number): Judged {
  const { peers, players, offsets, peer, x } = votes;
  const { pull, told, known } = weighed;
  const prior = logit(piBefore);
  const bad = new Float64Array(peers);
  const hits = new Float64Array(peers);
  let knownSum = 0;
  let badSum = 0;
  for (let i = 0; i < players; i++) {
    const start = offsets[i]!;
    const end = offsets[i + 1]!;
    let logOdds = prior;
    for (let e = start; e < end; e++) {
      const j = peer[e]!;
      logOdds += pull[e]! * (x[e]! * a[j]! - (1 - x[e]!) * b[j]!);
    }
    const q = sigmoid(logOdds);
    knownSum += known[i]!;
    badSum += known[i]! * q;
    for (let e = start; e < end; e++) {
      const j = peer[e]!;
      const toldBad = told[e]! * q;
      bad[j]! += toldBad;
      hits[j]! += toldBad * x[e]!;
    }
  }
  const pi = (badSum + c.badSharePriorMass * c.badSharePrior) / (knownSum + c.badSharePriorMass);
  return { bad, hits, pi: Math.min(weighed.piMax, Math.max(c.badShareMin, pi)) };
}

/**
 * A and B of one peer from its sums: from how it hits bad and good players (s, c) for a peer that votes both ways,
 * towards how often its votes are right (ppv, npv) for one that only ever votes one way.
 */
function peerLogOdds(
  pos: number,
  pb: number,
  nb: number,
  ng: number,
  pi: number,
  preTrusted: boolean,
): { a: number; b: number } {
  const k = preTrusted ? c.priorVotesPreTrusted : c.priorVotes;
  const a0 = preTrusted ? c.priorLogOddsPreTrusted : c.priorLogOdds;
  // om (1-x)(1-q) and om (1-q) need no sums of their own: om x + om (1-x) = om.
  const ok = Math.max(0, ng - pos + pb);
  const neg = Math.max(0, nb + ng - pos);
  const prior = k * sigmoid(a0);
  const hitsBad = (prior + pb) / (k + pos);
  const hitsGood = (prior + ok) / (k + neg);
  const ppv = precision((k * sigmoid(a0 + logit(pi)) + pb) / (k + nb));
  const npv = precision((k * sigmoid(a0 - logit(pi)) + ok) / (k + ng));
  const two = Math.min(nb, ng);
  const z = two / (two + c.twoSidedVotes);
  const a = z * Math.log(hitsBad / (1 - hitsGood)) + (1 - z) * (logit(ppv) - logit(pi));
  const b = z * Math.log(hitsGood / (1 - hitsBad)) + (1 - z) * (logit(npv) + logit(pi));
  return { a: bounded(a, preTrusted), b: bounded(b, preTrusted) };
}

function precision(p: number): number {
  return Math.min(c.precisionMax, Math.max(c.precisionMin, p));
}

/** Never inverted: a known liar could otherwise whitewash friends by reporting them. */
function bounded(logOdds: number, preTrusted: boolean): number {
  return Math.min(c.logOddsMax, Math.max(preTrusted ? c.logOddsMinPreTrusted : 0, logOdds));
}
