/** What one event and one read cost in the core, without HTTP and disk, in states of few players and of many. */
import { decideEvent } from '../../src/core/decide-event.js';
import { keyOf } from '../../src/core/event-columns.js';
import { pseudonymise } from '../../src/core/pseudonym.js';
import { momentOf, trustOf } from '../../src/core/score.js';
import { eventId, gameId, mix, playerId } from '../load/requests.js';
import { benchSalt, benchTime, emptyGroup } from './empty-group.js';
import { arrivals, countEntries, type Population, peerOfEntry } from './population.js';
import type { OnProgress } from './tasks.js';

export interface CostTask {
  readonly seed: number;
  readonly peers: number;
  /** Numbers of players: a state for each, one after the other. */
  readonly sizes: readonly number[];
}

/** Of each size. */
export type CostResult = readonly CostOfSize[];

export interface CostOfSize {
  readonly players: number;
  readonly eventNs: number;
  readonly readNs: number;
}

const samples = 200_000;
const samplesAtLeast = 2_000;

export function measureCost({ seed, peers, sizes }: CostTask, onProgress: OnProgress): CostResult {
  // The same code is warm for all.
  costOf({ seed, peers, players: Math.min(...sizes) }, () => undefined);
  return sizes.map((players) => costOf({ seed, peers, players }, onProgress));
}

function costOf(population: Population, onProgress: OnProgress): CostOfSize {
  const { players, seed, peers } = population;
  const state = emptyGroup(population);
  const submit = (peer: number, player: number, id: string): void => {
    const subject = keyOf(pseudonymise(playerId(player), benchSalt, 'privacy-first')!);
    const known = { schemaVersion: '1.0.0', eventType: 'report_cheating', gameId, severity: 0.5 } as const;
    const { peerId } = state.peers.at(peer);
    const decided = decideEvent(
      state,
      peer,
      { ...known, eventId: id, peerId, subject, timestamp: benchTime },
      benchTime,
    );
    if (!decided.ok) throw new Error(decided.code);
    state.apply(decided.value, benchTime);
  };
  const total = countEntries(population);
  let number = 0;
  for (const [player, entry] of arrivals(population)) {
    submit(peerOfEntry(population, player, entry), player, eventId(seed, number++));
    if (number % 10_000 === 0) onProgress(number, total);
  }
  const count = Math.max(samplesAtLeast, Math.min(samples, players));
  const reading = performance.now();
  const moment = momentOf(state, benchTime);
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const subject = pseudonymise(playerId(mix(seed + 13, i) % players), benchSalt, 'privacy-first')!;
    sum += trustOf(state, state.subjects.find(subject), moment).score;
  }
  const readNs = ((performance.now() - reading) * 1e6) / count;
  if (!(sum > 0)) throw new Error('the reads of the bench gave no scores');
  const writing = performance.now();
  for (let i = 0; i < count; i++) submit(mix(seed, i) % peers, mix(seed + 17, i) % players, eventId(seed + 1, i));
  const eventNs = ((performance.now() - writing) * 1e6) / count;
  return { players, eventNs, readNs };
}
