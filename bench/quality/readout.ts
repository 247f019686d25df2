/**
 * Converts a data set to evidence columns, and computed peer trust to the readings of every player, for tests and the
 * quality bench.
 */
import { asOfTime } from '../../src/core/evidence/decay.js';
import { logit } from '../../src/core/evidence/evidence.js';
import { sigmoid } from '../../src/core/evidence/sigmoid.js';
import { trustOf, votesOf } from '../../src/core/scoring/score.js';
import type { EvidenceView } from '../../src/core/tables/evidence-view.js';
import { computedColumns } from '../../src/core/tables/peer-weights.js';
import type { PeerTrust } from '../../src/core/trust/peer-trust.js';
import type { PeerFacts } from '../../src/core/trust/votes/origin-votes.js';
import type { Verdict } from '../../src/core/vocabulary.js';
import type { TrustSet } from '../data/trust-set.js';
import type { EvidenceColumns } from './evidence-columns.js';

/**
 * Returns the evidence of a set without decay: an observation's mass is its severity. The entries of a player are
 * ordered by peer.
 */
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

export function peerFacts(set: TrustSet): PeerFacts {
  const preTrusted = new Uint8Array(set.peers.length);
  for (const j of set.preTrusted) preTrusted[j] = 1;
  return { preTrusted, excluded: new Uint8Array(set.peers.length) };
}

/** Readings by player. */
export interface Readings {
  /** 0 to 100, 50 without evidence. */
  readonly score: Float64Array;
  /** 0 to 1. */
  readonly confidence: Float64Array;
  readonly verdict: readonly Verdict[];
  /** Calibrated probability of a bad player, in (0, 1). */
  readonly pBad: Float64Array;
}

/** Returns the readings of every player, by the code that answers reads. */
export function readOut(evidence: EvidenceColumns, facts: PeerFacts, trust: PeerTrust): Readings {
  const { players } = evidence;
  const view = viewOf(evidence, facts, trust);
  const asOf = asOfTime(view, 0);
  const prior = logit(trust.pi);
  const verdict: Verdict[] = [];
  const readings = {
    pBad: new Float64Array(players),
    score: new Float64Array(players),
    confidence: new Float64Array(players),
    verdict,
  };
  for (let i = 0; i < players; i++) {
    const read = trustOf(view, i, asOf);
    readings.score[i] = read.score;
    readings.confidence[i] = read.confidence;
    verdict.push(read.verdict);
    readings.pBad[i] = sigmoid(votesOf(view, i, asOf).logOdds + prior);
  }
  return readings;
}

/** Returns the columns as a view of a state, without decay. */
function viewOf(evidence: EvidenceColumns, facts: PeerFacts, trust: PeerTrust): EvidenceView {
  const { players, offsets, peer, lowering, raising, measure, follows } = evidence;
  const unused = (): never => {
    throw new Error('a read must not use this part of the view');
  };
  return {
    subjects: {
      rows: players,
      size: players,
      firstEntry: (row) => offsets[row]!,
      peerCount: (row) => offsets[row + 1]! - offsets[row]!,
      evidenceAt: () => 0,
      updatedAt: () => 0,
      readRows: unused,
      entries: {
        size: peer.length,
        peer: (entry) => peer[entry]!,
        lowering: (entry) => lowering[entry]!,
        raising: (entry) => raising[entry]!,
        measure: (entry) => measure?.[entry] ?? 0,
        follows: (entry) => follows?.[entry] ?? 0,
        count: () => 1,
        isVoid: () => false,
        putVotes: unused,
        prefetch: unused,
      },
    },
    peerWeights: {
      ...computedColumns(trust),
      ...facts,
      sender: Uint16Array.from(trust.witness.keys()),
    },
    epoch: 0,
    halfLifeDays: 0,
    measureScale: { epoch: 0, halfLifeDays: 0 },
  };
}
