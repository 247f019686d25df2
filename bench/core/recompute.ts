/** Measures the computation of peer weights alone, from the tables of a drawn group, without a node around it. */
import { KEY_WORDS } from '../../src/core/columns/packed-keys.js';
import { trustConstants } from '../../src/core/evidence/trust-constants.js';
import type { GroupState } from '../../src/core/state.js';
import { keyColumns } from '../../src/core/tables/event-columns.js';
import { noEvidence } from '../../src/core/tables/peer-entries.js';
import type { Subjects } from '../../src/core/tables/subjects.js';
import { computeGroupTrust } from '../../src/core/trust/peer-trust.js';
import { Scratch } from '../../src/core/trust/votes/scratch.js';
import { mix } from '../load/requests.js';
import type { OnProgress } from '../progress.js';
import { benchTime, emptyGroup } from './empty-group.js';
import { arrivals, countEntries, entriesOf, lowers, type Population, peerOfEntry, writeKey } from './population.js';

export interface RecomputeTask extends Population {
  /** Layout of the tables: `grown` as players arrived over time, `loaded` as a start from a snapshot lays them out. */
  readonly layout: 'grown' | 'loaded';
  readonly repeat: number;
}

/** Returns the times of the computations, s, and the memory with the group drawn and at the peak. */
export function recompute(task: RecomputeTask, onProgress: OnProgress) {
  const { repeat } = task;
  const total = countEntries(task);
  const state = drawnGroup(task, (drawn) => onProgress(drawn, total + repeat));
  const groupMb = process.memoryUsage().rss / 1e6;
  // Reused between computations, as a node does.
  const scratch = new Scratch();
  const times: number[] = [];
  for (let i = 0; i < repeat; i++) {
    const startedMs = performance.now();
    computeGroupTrust(state, benchTime, trustConstants, scratch, state.relations);
    times.push((performance.now() - startedMs) / 1000);
    onProgress(total + i + 1, total + repeat);
  }
  const peakMb = (process.resourceUsage().maxRSS * 1024) / 1e6;
  return { times, groupMb, peakMb };
}

/**
 * Draws a group with the entries of the population and masses from .4 to 1.4. One entry in ten has both kinds of
 * claims, and another one in ten a measure, of which half follow others.
 */
function drawnGroup(population: RecomputeTask, onProgress: (drawn: number) => void): GroupState {
  const state = emptyGroup(population);
  const { subjects } = state;
  if (population.layout === 'loaded') layOut(subjects, population);
  const words = new Uint32Array(KEY_WORDS);
  const key = new Uint8Array(words.buffer);
  let number = 0;
  for (const [player, entry] of population.layout === 'grown' ? arrivals(population) : inOrder(population)) {
    writeKey(player, words);
    const at = subjects.ensureEntry(key, peerOfEntry(population, player, entry), benchTime, benchTime);
    const drawn = mix(population.seed + 13, ++number) / 2 ** 32;
    const mass = 0.4 + drawn;
    subjects.entries.add(at, lowers(population, player, entry) ? -mass : mass, number, false);
    if (drawn < 0.1) subjects.entries.add(at, -0.3, number, false);
    if (drawn >= 0.9) subjects.entries.addMeasure(at, 1, number, drawn >= 0.95);
    if (number % 10_000 === 0) onProgress(number);
  }
  return state;
}

/** Creates rows and empty entries in the layout of a start from a snapshot. */
function layOut(subjects: Subjects, population: Population): void {
  const columns = keyColumns(1);
  columns.count = 1;
  for (let player = 0; player < population.players; player++) {
    writeKey(player, columns.keys);
    subjects.fillHashes(columns);
    const count = entriesOf(population, player);
    const first = subjects.admit(columns, 0, count, benchTime, benchTime);
    const peers = Array.from({ length: count }, (_, entry) => peerOfEntry(population, player, entry));
    for (const [i, peer] of peers.sort((j, k) => j - k).entries())
      subjects.entries.set(first + i, peer, noEvidence, 0, 0);
  }
}

function* inOrder(population: Population): Generator<[player: number, entry: number]> {
  for (let player = 0; player < population.players; player++) {
    for (let entry = 0; entry < entriesOf(population, player); entry++) yield [player, entry];
  }
}
