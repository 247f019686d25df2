/** Reads earlier published peer weights from the log, in bounded pieces. */
import { trustConstants as k } from '../../core/evidence/trust-constants.js';
import type { GroupState } from '../../core/state.js';
import { measureWeightOf, publishedWeight, weightOf } from '../../core/tables/peer-weights.js';
import { limits } from '../../limits.js';
import type { LogReader } from '../ports/log.js';
import type { WeightsPiece } from '../ports/pool.js';
import { batchFrom } from '../recovery/recovery.js';

/** Returns the weights published after `after`, up to `last` or one piece: at least one batch. */
export function readWeights(log: LogReader, after: number, last: number): WeightsPiece {
  const published: WeightsPiece['published'][number][] = [];
  let peers = 0;
  let upTo = after;
  const first = log.at(after + 1);
  const from = first === undefined ? after + 1 : first.firstSeq;
  for (const stored of log.from(from, limits.catchUpBatches, limits.catchUpBytes)) {
    const batch = batchFrom(stored);
    for (let seq = Math.max(batch.firstSeq, after + 1); seq <= batch.lastSeq; seq++) {
      if (seq > last || peers > limits.weightsPagePeers) return { published, upTo };
      const record = batch.record(seq);
      upTo = seq;
      if (record.type !== 'weights_published') continue;
      published.push({ seq, at: batch.at, record });
      peers += record.tau.length;
    }
  }
  return { published, upTo };
}

/** `pi` is the group's share of bad players. */
export function publishedWeights({ peers }: GroupState, one: WeightsPiece['published'][number]) {
  const { based_on_seq: basedOnSeq, computed_at: computedAt, pi, tau, a, b, measures } = one.record;
  // Origins and carriers have numbers, too.
  const numbers = Array.from(tau.keys()).filter((number) => peers.has(number));
  const named = numbers.map((peer) => {
    const gate = tau[peer]!;
    const odds = { a: a[peer]!, b: b[peer]!, m: measures?.m[peer] ?? k.measureOdds, finds: measures?.finds[peer] ?? 1 };
    const tookMeasures = measures?.measured[peer] === 1;
    const weight = publishedWeight(weightOf(gate, odds.a, odds.b), measureWeightOf(gate, odds.m), tookMeasures);
    return { peerId: peers.at(peer).peerId, weight, tau: gate, ...odds };
  });
  return { seq: one.seq, at: one.at, basedOnSeq, computedAt, pi, peers: named };
}

export interface PublishedWeights extends Readonly<ReturnType<typeof publishedWeights>> {}
