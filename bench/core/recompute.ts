/** The peer-trust computation alone, on a drawn group: what a recompute costs without the node around it. */
import type { EvidenceColumns } from '../../src/core/trust/columns.js';
import { computePeerTrust } from '../../src/core/trust/peer-trust.js';
import { Scratch } from '../../src/core/trust/scratch.js';
import { trustConstants } from '../../src/core/trust-constants.js';
import { randomFrom, uniform } from '../quality/random.js';
import { entriesOf, lowers, type Population } from './population.js';
import type { OnProgress } from './tasks.js';

export interface RecomputeTask extends Population {
  readonly repeat: number;
}

export interface RecomputeResult {
  readonly times: readonly number[];
  readonly groupMb: number;
  readonly peakMb: number;
}

export function recompute(task: RecomputeTask, onProgress: OnProgress): RecomputeResult {
  const { players, peers, repeat } = task;
  const evidence = drawEvidence(task, players);
  // As the service does: in a very large group the log-odds are fitted on a sample.
  const isLarge = players > trustConstants.sampledPlayers;
  const sample = isLarge ? drawEvidence(task, trustConstants.sampledPlayers) : evidence;
  const facts = { preTrusted: new Uint8Array(peers), excluded: new Uint8Array(peers) };
  const groupMb = process.memoryUsage().rss / 1e6;
  // Kept from one to the next, as a node does.
  const scratch = new Scratch();
  const times: number[] = [];
  for (let i = 0; i < repeat; i++) {
    const startedMs = performance.now();
    computePeerTrust(evidence, facts, sample, trustConstants, scratch.begin());
    times.push((performance.now() - startedMs) / 1000);
    onProgress(i + 1, repeat);
  }
  const peakMb = (process.resourceUsage().maxRSS * 1024) / 1e6;
  return { times, groupMb, peakMb };
}

/** The first `players` of the population. Busy peers are drawn more often, and one in ten entries holds both kinds of evidence. */
function drawEvidence(population: Population, players: number): EvidenceColumns {
  const { peers, seed } = population;
  const random = randomFrom('recompute', seed);
  const offsets = new Uint32Array(players + 1);
  for (let i = 0; i < players; i++) offsets[i + 1] = offsets[i]! + entriesOf(population, i);
  const total = offsets[players]!;
  const peer = new Uint32Array(total);
  const lowering = new Float64Array(total);
  const raising = new Float64Array(total);
  for (let i = 0; i < players; i++) {
    const start = offsets[i]!;
    for (let e = start; e < offsets[i + 1]!; e++) {
      do peer[e] = Math.floor(peers * random() ** 1.5);
      while (peer.subarray(start, e).includes(peer[e]!));
      const mine = lowers(population, i, e - start) ? lowering : raising;
      mine[e] = uniform(random, 0.4, 2.4);
      if (random() < 0.1) lowering[e]! += 0.3;
    }
  }
  return { peers, players, offsets, peer, lowering, raising };
}
