/** Many lives one after the other, their sum, and what is shown of a difference. */
import { createHash } from 'node:crypto';
import { type Plant, run } from './run.js';
import { shorten } from './shorten.js';
import { drawPlan } from './steps.js';

/**
 * Operations of one life: long enough for snapshots and erasures to meet, short enough to be replayed whole again and
 * again.
 */
export const operationsPerSeed = 2_000;

export interface Simulation {
  readonly seed: number;
  readonly operations: number;
  readonly write: (text: string) => void;
  /** How often the progress is shown, in ms. */
  readonly progressMs?: number;
  /** Ends it after the life that is being lived. */
  readonly signal?: AbortSignal;
  readonly plant?: Plant;
}

const printed = [
  'steps',
  'commits',
  'crashes',
  'ended: failed',
  'stops',
  'commits refused',
  'commits whose answer is lost',
  'turns in flight at the end: kept',
  'turns in flight at the end: lost',
  'writes of a former owner refused',
  'snapshot done',
  'snapshots: flip',
  'snapshots: alter',
  'snapshots: lose',
  'erased',
  'withdrawn',
  'events known to be erased',
  'told of an erasure',
  'searches for erased bytes',
  'retention runs',
  'events retired',
  'weights done',
  'origin done',
  'dispute done',
  'decide done',
  'weights compared',
  'weights compared at an edge',
  'weights not compared: evidence in doubt',
  'weights not compared: the oracle is ahead',
  'replays compared',
  'reads',
  'accepted',
  'reads beyond the range of doubles',
  'listings',
  'duplicate_event',
  'timestamp_in_future',
  'refused at a full mailbox',
  'clock jumps by 20 years',
  'clock jumps by 1 to 20 years',
  'clock jumps by less than a year',
  'pool faults',
];

/** True where no difference was found. The first one ends it, and is printed with the steps that show it. */
export async function simulate(simulation: Simulation): Promise<boolean> {
  const { seed, operations, write, progressMs = 5_000, signal, plant } = simulation;
  const started = performance.now();
  const totals = new Map<string, number>();
  const digests = createHash('sha256');
  let reportedAt = started;
  let done = 0;
  let next = seed;
  for (; done < operations && signal?.aborted !== true; next++) {
    const plan = drawPlan(next, Math.min(operationsPerSeed, operations - done));
    const { difference, step, digest, counts } = await run(next, plan, plant);
    for (const [what, count] of counts) totals.set(what, (totals.get(what) ?? 0) + count);
    if (difference !== null) {
      write(`seed ${next}, step ${step}: ${difference.message}\n`);
      const short = await shorten(next, { ...plan, steps: plan.steps.slice(0, step + 1) }, difference.rule, plant);
      write(`${short.steps.length} of ${step + 1} steps show it (${short.message}):\n`);
      for (const one of short.steps) write(`  ${JSON.stringify(one)}\n`);
      write(`again: npm run sim -- --seed ${next} --operations ${operationsPerSeed}\n`);
      return false;
    }
    digests.update(digest);
    done += counts.get('operations') ?? 0;
    if (performance.now() - reportedAt < progressMs) continue;
    reportedAt = performance.now();
    write(`seed ${next}: ${done} of ${operations} operations, ${Math.round((reportedAt - started) / 1000)} s\n`);
  }
  const seconds = (performance.now() - started) / 1000;
  write(`seeds ${seed} to ${next - 1}: ${done} operations in ${seconds.toFixed(1)} s, no difference\n`);
  write(`${printed.map((what) => `  ${what}: ${totals.get(what) ?? 0}`).join('\n')}\n`);
  write(`  digest: ${digests.digest('hex')}\n`);
  return true;
}
