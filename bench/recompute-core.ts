/**
 * Times the peer-trust computation alone, on a drawn group: what a recompute costs without the node around it.
 * One process per figure, because the peak of memory is the process's own.
 */
import type { Command } from 'commander';
import type { EvidenceColumns } from '../src/core/trust/columns.js';
import { computePeerTrust } from '../src/core/trust/peer-trust.js';
import { type Random, randomFrom, uniform } from './quality/random.js';
import { type Scenario, wholeNumber } from './scenario.js';

interface Options {
  readonly players: number;
  readonly peers: number;
  readonly seed: number;
  readonly repeat: number;
}

/** Players with 1 + geometric entries, 2.3 on average as in the sizing tables. */
const FURTHER_ENTRY = 1 - 1 / 2.3;
const ENTRIES_MAX = 40;
const BAD_SHARE = 0.05;
const RIGHT_SHARE = 0.85;

export const recomputeCore: Scenario = {
  name: 'recompute-core',
  summary: 'time and memory of the peer-trust computation alone',
  define(command: Command): void {
    command
      .option('--players <n>', 'players in the group', wholeNumber(1), 1_000_000)
      .option('--peers <n>', 'peers in the group', wholeNumber(1), 50)
      .option('--seed <n>', 'the group that is drawn', wholeNumber(0), 1)
      .option('--repeat <n>', 'computations of the same group', wholeNumber(1), 5)
      .action(run);
  },
};

function run({ players, peers, seed, repeat }: Options): void {
  const evidence = drawEvidence(players, peers, randomFrom('recompute-core', seed));
  const facts = { preTrusted: new Uint8Array(peers), excluded: new Uint8Array(peers) };
  const inputMb = megabytes(process.memoryUsage().rss);
  const times: number[] = [];
  for (let i = 0; i < repeat; i++) {
    const start = performance.now();
    computePeerTrust(evidence, facts);
    times.push(performance.now() - start);
    console.log(`run ${i + 1}: ${times[i]!.toFixed(0)} ms`);
  }
  times.sort((s, t) => s - t);
  console.log(`${players} players, ${peers} peers, ${evidence.peer.length} entries, seed ${seed}`);
  console.log(`median ${times[Math.floor(repeat / 2)]!.toFixed(0)} ms, best ${times[0]!.toFixed(0)} ms`);
  const peakMb = megabytes(process.resourceUsage().maxRSS * 1024);
  console.log(`memory: ${inputMb} MB with the group drawn, ${peakMb} MB at the peak`);
}

/** Busy peers are drawn more often; votes are right in 85 of 100, and one in ten entries holds both kinds of evidence. */
function drawEvidence(players: number, peers: number, random: Random): EvidenceColumns {
  const offsets = new Uint32Array(players + 1);
  for (let i = 0; i < players; i++) {
    let entries = 1;
    while (entries < Math.min(peers, ENTRIES_MAX) && random() < FURTHER_ENTRY) entries++;
    offsets[i + 1] = offsets[i]! + entries;
  }
  const total = offsets[players]!;
  const peer = new Uint32Array(total);
  const lowering = new Float64Array(total);
  const raising = new Float64Array(total);
  for (let i = 0; i < players; i++) {
    const bad = random() < BAD_SHARE;
    const start = offsets[i]!;
    for (let e = start; e < offsets[i + 1]!; e++) {
      do peer[e] = Math.floor(peers * random() ** 1.5);
      while (peer.subarray(start, e).includes(peer[e]!));
      const mine = bad === random() < RIGHT_SHARE ? lowering : raising;
      mine[e] = uniform(random, 0.4, 2.4);
      if (random() < 0.1) lowering[e]! += 0.3;
    }
  }
  return { peers, players, offsets, peer, lowering, raising };
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}
