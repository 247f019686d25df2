/**
 * The methods of the field on the same evidence as this service: majority, beta reputation (Josang and Ismail 2002),
 * Dawid-Skene (1979), EigenTrust (Kamvar et al. 2003), and an oracle that knows every peer's true error rates. Each
 * returns P(bad) per player. Entries without mass are no votes.
 */
import { logit } from '../../src/core/evidence/evidence.js';
import { sigmoid } from '../../src/core/evidence/sigmoid.js';
import type { EvidenceColumns } from './evidence-columns.js';

/** Visits one entry: `x` is the share of a peer's mass on a player that lowers trust. */
type VoteVisitor = (player: number, peer: number, x: number) => void;

function forEachVote({ players, offsets, peer, lowering, raising }: EvidenceColumns, visit: VoteVisitor): void {
  for (let player = 0; player < players; player++) {
    for (let e = offsets[player]!; e < offsets[player + 1]!; e++) {
      const mass = lowering[e]! + raising[e]!;
      if (mass > 0) visit(player, peer[e]!, lowering[e]! / mass);
    }
  }
}

/** Returns the mean vote with equal weights; 0 for a player without votes. */
export function majority(evidence: EvidenceColumns): Float64Array {
  return weightedVote(evidence, new Float64Array(evidence.peers).fill(1), 0, 0);
}

/** Returns `(b + 1) / (b + g + 2)` over all events. */
export function betaReputation({ players, offsets, lowering, raising }: EvidenceColumns): Float64Array {
  return Float64Array.from({ length: players }, (_, player) => {
    const sumOf = (masses: Float64Array) =>
      masses.subarray(offsets[player], offsets[player + 1]).reduce((sum, mass) => sum + mass, 0);
    const [bad, good] = [sumOf(lowering), sumOf(raising)];
    return (bad + 1) / (bad + good + 2);
  });
}

/** Two-coin maximum likelihood: 50 rounds of EM from the majority, on hard votes, with smoothing of .01. */
export function dawidSkene(evidence: EvidenceColumns): Float64Array {
  let badness = majority(evidence);
  for (let round = 0; round < 50; round++) {
    const { onBad, onGood } = errorRates(evidence, badness, 0.01);
    const meanBadness = badness.reduce((sum, q) => sum + q, 0) / evidence.players;
    const ofBadVote = onBad.map((rate, j) => Math.log(rate / (1 - onGood[j]!)));
    const ofGoodVote = onGood.map((rate, j) => Math.log(rate / (1 - onBad[j]!)));
    badness = logOddsVote(evidence, ofBadVote, ofGoodVote, clip(meanBadness, 1e-6));
  }
  return badness;
}

interface Rates {
  /** Share of bad players that the peer votes bad, per peer. */
  readonly onBad: Float64Array;
  readonly onGood: Float64Array;
}

function errorRates(evidence: EvidenceColumns, badness: Float64Array, smoothing: number): Rates {
  const { peers } = evidence;
  const badRight = new Float64Array(peers).fill(smoothing);
  const badAll = new Float64Array(peers).fill(2 * smoothing);
  const goodRight = new Float64Array(peers).fill(smoothing);
  const goodAll = new Float64Array(peers).fill(2 * smoothing);
  forEachVote(evidence, (player, peer, x) => {
    const q = badness[player]!;
    badAll[peer]! += q;
    goodAll[peer]! += 1 - q;
    if (x >= 0.5) badRight[peer]! += q;
    else goodRight[peer]! += 1 - q;
  });
  return {
    onBad: badRight.map((right, j) => clip(right / badAll[j]!, 1e-6)),
    onGood: goodRight.map((right, j) => clip(right / goodAll[j]!, 1e-6)),
  };
}

/**
 * Returns the log-odds vote of a judge who knows the true error rates of every peer, counted on the labelled players
 * with half a vote in each cell. A vote of an adversary never counts for the opposite of its content: known liars are
 * not inverted.
 */
export function oracle(
  evidence: EvidenceColumns,
  truth: ReadonlyMap<number, 0 | 1>,
  adversaries: readonly number[],
): Float64Array {
  const { peers } = evidence;
  const votes = [0, 1].map(() => [0, 1].map(() => new Float64Array(peers).fill(0.5)));
  forEachVote(evidence, (player, peer, x) => {
    const label = truth.get(player);
    if (label !== undefined) votes[label]![x >= 0.5 ? 1 : 0]![peer]! += 1;
  });
  /** Returns the log-odds of a bad player, given this vote. */
  const oddsOf = (vote: 0 | 1) =>
    Float64Array.from({ length: peers }, (_, j) => {
      const shareOf = (label: 0 | 1) => votes[label]![vote]![j]! / (votes[label]![0]![j]! + votes[label]![1]![j]!);
      return Math.log(shareOf(1) / shareOf(0));
    });
  const ofBadVote = oddsOf(1);
  const ofGoodVote = oddsOf(0).map((odds) => -odds);
  for (const j of adversaries) {
    ofBadVote[j] = Math.max(ofBadVote[j]!, 0);
    ofGoodVote[j] = Math.max(ofGoodVote[j]!, 0);
  }
  const bad = [...truth.values()].reduce<number>((sum, label) => sum + label, 0);
  return logOddsVote(evidence, ofBadVote, ofGoodVote, clip(bad / truth.size, 1e-6));
}

/** `ofBadVote` and `ofGoodVote`: log-odds per peer, towards bad and towards good. */
function logOddsVote(
  evidence: EvidenceColumns,
  ofBadVote: Float64Array,
  ofGoodVote: Float64Array,
  prior: number,
): Float64Array {
  const logOdds = new Float64Array(evidence.players).fill(logit(prior));
  forEachVote(evidence, (player, peer, x) => {
    logOdds[player]! += x >= 0.5 ? ofBadVote[peer]! : -ofGoodVote[peer]!;
  });
  return logOdds.map(sigmoid);
}

/**
 * Local trust of two peers is the sum of the products of their votes (-1 to 1) on shared players, where positive. The
 * walk restarts at the pre-trusted peers (at all peers if there are none) with .15, for 100 rounds. The result is the
 * vote weighted by global trust.
 */
export function eigenTrust(evidence: EvidenceColumns, preTrusted: readonly number[]): Float64Array {
  const { peers } = evidence;
  const restart = 0.15;
  const start = new Float64Array(peers);
  if (preTrusted.length === 0) start.fill(1 / peers);
  for (const peer of preTrusted) start[peer] = 1 / preTrusted.length;
  const local = localTrust(evidence);
  let trust = start;
  for (let round = 0; round < 100; round++) {
    const next = start.map((p) => restart * p);
    let unspoken = 0;
    for (let j = 0; j < peers; j++) {
      const { to, share } = local[j]!;
      const passed = (1 - restart) * trust[j]!;
      if (to.length === 0) unspoken += passed;
      for (let k = 0; k < to.length; k++) next[to[k]!]! += passed * share[k]!;
    }
    trust = next.map((value, j) => value + unspoken * start[j]!);
  }
  return weightedVote(evidence, trust, 0.5, 1e-9);
}

interface LocalTrust {
  /** Peers with positive trust, and their shares of trust, which add up to 1. */
  readonly to: Uint32Array;
  readonly share: Float64Array;
}

/** Computes row by row, because most pairs of a large group share no player. */
function localTrust(evidence: EvidenceColumns): LocalTrust[] {
  const byPeer: { player: number; vote: number }[][] = Array.from({ length: evidence.peers }, () => []);
  const byPlayer: { peer: number; vote: number }[][] = Array.from({ length: evidence.players }, () => []);
  forEachVote(evidence, (player, peer, x) => {
    const vote = 2 * x - 1;
    byPeer[peer]!.push({ player, vote });
    byPlayer[player]!.push({ peer, vote });
  });
  return byPeer.map((own, j) => {
    const sums = new Map<number, number>();
    for (const { player, vote } of own) {
      for (const other of byPlayer[player]!) {
        if (other.peer !== j) sums.set(other.peer, (sums.get(other.peer) ?? 0) + vote * other.vote);
      }
    }
    const positive = [...sums].filter(([, sum]) => sum > 0);
    const total = positive.reduce((all, [, sum]) => all + sum, 0);
    return {
      to: Uint32Array.from(positive, ([peer]) => peer),
      share: Float64Array.from(positive, ([, sum]) => sum / total),
    };
  });
}

/** Returns `(sum w x + epsilon fallback) / (sum w + epsilon)`; the fallback if both sums are 0. */
function weightedVote(
  evidence: EvidenceColumns,
  weight: Float64Array,
  fallback: number,
  epsilon: number,
): Float64Array {
  const votes = new Float64Array(evidence.players).fill(epsilon * fallback);
  const weights = new Float64Array(evidence.players).fill(epsilon);
  forEachVote(evidence, (player, peer, x) => {
    votes[player]! += weight[peer]! * x;
    weights[player]! += weight[peer]!;
  });
  return votes.map((sum, player) => (weights[player] === 0 ? fallback : sum / weights[player]!));
}

function clip(p: number, margin: number): number {
  return Math.min(1 - margin, Math.max(margin, p));
}
