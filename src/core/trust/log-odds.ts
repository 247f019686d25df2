/**
 * Stage 2 of peer trust: what a bad vote (A) and a good one (B) of each peer tell, in log-odds, and the group's share
 * of bad players (scoring page, "Peer trust, stage 2"). A fixed number of rounds over all votes.
 */
import { damping, logit, saturate, sigmoid, unit } from '../evidence.js';
import type { TrustConstants } from '../trust-constants.js';
import type { Scratch } from './scratch.js';
import type { VoteSums } from './vote-sums.js';
import type { Votes } from './votes.js';

export interface LogOdds {
  readonly a: Float64Array;
  readonly b: Float64Array;
  /** Share of bad players, in (0, 1). */
  readonly pi: number;
}

/** `votes`: all of the group's or a sample of them, and `sums` of all; `tau` in [0, 1] and `preTrusted` (one byte) per peer. */
export function fitLogOdds(
  votes: Votes,
  sums: VoteSums,
  tau: Float64Array,
  preTrusted: Uint8Array,
  c: TrustConstants,
  scratch: Scratch,
): LogOdds {
  const weighed = weigh(votes, sums, tau, c, scratch);
  const a = new Float64Array(votes.peers).fill(c.priorLogOdds);
  const b = new Float64Array(votes.peers).fill(c.priorLogOdds);
  let pi: number = c.badShareStart;
  // What the last rounds settle need not be found out over all players: in a large group the first ones look at a part.
  const stride = Math.max(
    1,
    Math.floor(votes.players / Math.max(c.firstRoundsPlayers, c.firstRoundsPerPeer * votes.peers)),
  );
  const some = lookAt(votes, weighed, stride, c);
  const all = lookAt(votes, weighed, 1, c);
  for (let round = 0; round < c.rounds; round++) {
    const judged = judge(votes, weighed, a, b, pi, c, round < c.rounds - c.fullRounds ? some : all);
    pi = judged.pi;
    const group = groupRates(judged.records, weighed.corroborated, tau, c);
    judged.records.forEach((record, j) => {
      const odds = peerLogOdds(record, group, pi, preTrusted[j] === 1, c);
      a[j] = odds.a;
      b[j] = odds.b;
    });
  }
  return { a: a.map((fitted, j) => sharpened(fitted, weighed.nb[j]!, weighed.ng[j]!, c)), b, pi };
}

/** What stays the same in every round. */
interface Weighed {
  /** Per entry `tau n / deff`: how far the vote pulls its player's log-odds. */
  readonly pull: Float64Array;
  /** Per entry `om`: how much the player's state tells about the vote. */
  readonly told: Float64Array;
  /** Per player `c = M / (M + 1)`, M without the weightiest vote: what one peer alone says tells nothing of the group. */
  readonly known: Float64Array;
  /** Per peer `sum om x` and `sum om (1 - x)`. */
  readonly nb: Float64Array;
  readonly ng: Float64Array;
  /** Per peer `sum n1 R / (R + half)`: its votes as far as others saw the player. */
  readonly corroborated: Float64Array;
  /** Upper bound of the share of bad players. */
  readonly piMax: number;
}

function weigh(votes: Votes, sums: VoteSums, tau: Float64Array, c: TrustConstants, scratch: Scratch): Weighed {
  const { peers, players, offsets, peer, mass, x } = votes;
  const pull = scratch.float64(peer.length);
  const told = scratch.float64(peer.length);
  const known = scratch.float64(players);
  const nb = new Float64Array(peers);
  const ng = new Float64Array(peers);
  const corroborated = new Float64Array(peers);
  const voters = sums.volume.reduce((count, volume) => count + (volume > 0 ? 1 : 0), 0);
  const floor = voters < c.corroboratedPeersMin ? 0 : c.corroborationFloor;
  for (let i = 0; i < players; i++) {
    const end = offsets[i + 1]!;
    let sum = 0;
    let most = 0;
    for (let e = offsets[i]!; e < end; e++) {
      const vote = tau[peer[e]!]! * unit(mass[e]!);
      sum += vote;
      most = Math.max(most, vote);
    }
    const perDeff = 1 / damping(sum / c.repeatsFrom);
    const seen = Math.max(0, sum - (1 - c.badShareAlone) * most);
    known[i] = seen / (seen + 1);
    for (let e = offsets[i]!; e < end; e++) {
      const j = peer[e]!;
      const n1 = unit(mass[e]!);
      const others = Math.max(0, sum - tau[j]! * n1);
      const om = (n1 * (others + floor)) / (others + c.corroborationHalf);
      pull[e] = tau[j]! * saturate(mass[e]!) * perDeff;
      told[e] = om;
      corroborated[j]! += (n1 * others) / (others + c.corroborationHalf);
      nb[j]! += om * x[e]!;
      ng[j]! += om * (1 - x[e]!);
    }
  }
  return { pull, told, known, nb, ng, corroborated, piMax: ceiling(sums, tau, c) };
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

interface Judged {
  readonly records: readonly PeerRecord[];
  readonly pi: number;
}

/** The players that a round looks at. */
interface Look {
  /** Every so-manieth of them. */
  readonly stride: number;
  /** Per peer `sum om x` and `sum om (1 - x)` over these players. */
  readonly nb: Float64Array;
  readonly ng: Float64Array;
  /** Per peer what its sums over these players are brought by to what they would be over all: one factor, so that a rate stays within 0 and 1. */
  readonly scale: Float64Array;
}

function lookAt(votes: Votes, weighed: Weighed, stride: number, c: TrustConstants): Look {
  const { peers, players, offsets, peer, x } = votes;
  if (stride === 1) return { stride, nb: weighed.nb, ng: weighed.ng, scale: new Float64Array(peers).fill(1) };
  const nb = new Float64Array(peers);
  const ng = new Float64Array(peers);
  for (let i = 0; i < players; i += stride) {
    for (let e = offsets[i]!; e < offsets[i + 1]!; e++) {
      const j = peer[e]!;
      nb[j]! += weighed.told[e]! * x[e]!;
      ng[j]! += weighed.told[e]! * (1 - x[e]!);
    }
  }
  const scale = nb.map((bad, j) => (weighed.nb[j]! + weighed.ng[j]!) / Math.max(c.massMin, bad + ng[j]!));
  return { stride, nb, ng, scale };
}

/** One round over the votes on some players: the `q = sigmoid(logit pi + L)` of each, and what that says of its peers. */
function judge(
  votes: Votes,
  weighed: Weighed,
  a: Float64Array,
  b: Float64Array,
  piBefore: number,
  c: TrustConstants,
  { stride, nb, ng, scale }: Look,
): Judged {
  const { peers, players, offsets, peer, x } = votes;
  const { pull, told, known } = weighed;
  const prior = logit(piBefore);
  const bad = new Float64Array(peers);
  const hits = new Float64Array(peers);
  let knownSum = 0;
  let badSum = 0;
  for (let i = 0; i < players; i += stride) {
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
  const pi = (badSum * stride + c.badSharePriorMass * c.badSharePrior) / (knownSum * stride + c.badSharePriorMass);
  const records = Array.from(scale, (s, j) => recordOf(bad[j]! * s, hits[j]! * s, nb[j]! * s, ng[j]! * s));
  return { records, pi: Math.min(weighed.piMax, Math.max(c.badShareMin, pi)) };
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
