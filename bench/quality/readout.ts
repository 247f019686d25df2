/**
 * From a data set to evidence columns, and from computed peer trust to what every player would read: the whole-group
 * twin of the score read, for tests and the quality bench.
 */
import { damping, logit, saturate, unit } from '../../src/core/evidence.js';
import { sigmoid } from '../../src/core/sigmoid.js';
import type { EvidenceColumns, PeerFacts } from '../../src/core/trust/columns.js';
import type { PeerTrust } from '../../src/core/trust/peer-trust.js';
import { trustConstants } from '../../src/core/trust-constants.js';
import type { TrustSet } from '../data/trust-set.js';

/** Evidence of a set without decay: an observation's mass is its severity. Entries of a player are ordered by peer. */
export function evidenceColumns(set: TrustSet): EvidenceColumns {
  const sums: Map<number, { b: number; g: number }>[] = set.players.map(() => new Map());
  for (const { player, peer, polarity, severity } of set.observations) {
    const sum = sums[player]!.get(peer) ?? { b: 0, g: 0 };
    sums[player]!.set(peer, sum);
    if (polarity < 0) sum.b += severity;
    else sum.g += severity;
  }
  const rows = sums.map((ofPlayer) => [...ofPlayer].sort(([j], [k]) => j - k));
  const entries = rows.flat();
  const offsets = new Uint32Array(rows.length + 1);
  rows.forEach((row, i) => {
    offsets[i + 1] = offsets[i]! + row.length;
  });
  return {
    peers: set.peers.length,
    players: set.players.length,
    offsets,
    peer: Uint32Array.from(entries, ([peer]) => peer),
    lowering: Float64Array.from(entries, ([, { b }]) => b),
    raising: Float64Array.from(entries, ([, { g }]) => g),
  };
}

/** The facts of a set: its pre-trusted peers, nobody revoked. */
export function peerFacts(set: TrustSet): PeerFacts {
  const preTrusted = new Uint8Array(set.peers.length);
  for (const j of set.preTrusted) preTrusted[j] = 1;
  return { preTrusted, excluded: new Uint8Array(set.peers.length) };
}

/** Per player. */
export interface Readings {
  /** Calibrated probability of a bad player, in (0, 1). */
  readonly pBad: Float64Array;
  /** 0 to 100, 50 without evidence. */
  readonly score: Float64Array;
  /** 0 to 1. */
  readonly confidence: Float64Array;
}

/** The read formula of the scoring page, for every player. */
export function readOut(evidence: EvidenceColumns, facts: PeerFacts, trust: PeerTrust): Readings {
  const { players, offsets, peer, lowering, raising } = evidence;
  const readings = {
    pBad: new Float64Array(players),
    score: new Float64Array(players),
    confidence: new Float64Array(players),
  };
  const prior = logit(trust.pi);
  for (let i = 0; i < players; i++) {
    let fromPreTrusted = 0;
    let fromOthers = 0;
    let mass = 0;
    let evidenceSum = 0;
    for (let e = offsets[i]!; e < offsets[i + 1]!; e++) {
      const j = peer[e]!;
      const m = lowering[e]! + raising[e]!;
      if (m === 0 || facts.excluded[j] !== 0) continue;
      const x = lowering[e]! / m;
      const logOdds = trust.tau[j]! * saturate(m) * (x * trust.a[j]! - (1 - x) * trust.b[j]!);
      if (facts.preTrusted[j] !== 0) fromPreTrusted += logOdds;
      else fromOthers += logOdds;
      mass += trust.tau[j]! * unit(m);
      evidenceSum += trust.weight[j]! * saturate(m);
    }
    const bound =
      fromPreTrusted === 0 ? Number.POSITIVE_INFINITY : trustConstants.preTrustClip * Math.abs(fromPreTrusted);
    const clipped = Math.min(bound, Math.max(-bound, fromOthers));
    const ell = (fromPreTrusted + clipped) / damping(mass);
    const confidence = evidenceSum / (evidenceSum + trustConstants.confidenceHalf);
    readings.pBad[i] = sigmoid(ell + prior);
    readings.score[i] = 100 * sigmoid(-confidence * ell);
    readings.confidence[i] = confidence;
  }
  return readings;
}
