/** Many lives one after the other, of a group or of a cluster: their sum, and what is shown of a difference. */
import { createHash } from 'node:crypto';
import { live } from './cluster/life.js';
import type { Difference } from './difference.js';
import { type Plant, run } from './run.js';
import { shorten } from './shorten.js';
import { drawPlan } from './steps.js';

/**
 * Operations of one life of a group: long enough for snapshots and erasures to meet, short enough to be replayed whole
 * again and again.
 */
export const operationsPerSeed = 2_000;
/** The last notes of the nodes that are shown with a broken invariant of a cluster. */
const notesMax = 40;
const progressMs = 5_000;

interface Lives {
  readonly seed: number;
  readonly write: (text: string) => void;
  /** Ends it after the life that is being lived. */
  readonly signal?: AbortSignal;
}

interface Lived {
  readonly difference: Difference | null;
  readonly counts: ReadonlyMap<string, number>;
  /** Writes what shows the difference, and how to see it again. */
  readonly explain: (difference: Difference) => void | Promise<void>;
}

/** Lives one seed after the other until `wanted` of what `counted` names have happened; true if none differed. */
async function liveAll(
  { seed, write, signal }: Lives,
  counted: 'operations' | 'faults',
  wanted: number,
  lifeOf: (seed: number, left: number) => Promise<Lived>,
): Promise<boolean> {
  const started = performance.now();
  const totals = new Map<string, number>();
  const done = () => totals.get(counted) ?? 0;
  const seconds = (at: number) => ((at - started) / 1000).toFixed(1);
  let reportedAt = started;
  let next = seed;
  for (; (next === seed || done() < wanted) && signal?.aborted !== true; next++) {
    const { difference, counts, explain } = await lifeOf(next, wanted - done());
    if (difference !== null) {
      await explain(difference);
      return false;
    }
    for (const [what, count] of counts) totals.set(what, (totals.get(what) ?? 0) + count);
    if (performance.now() - reportedAt < progressMs) continue;
    reportedAt = performance.now();
    write(`seed ${next}: ${done()} of ${wanted} ${counted}, ${seconds(reportedAt)} s\n`);
  }
  write(`seeds ${seed} to ${next - 1}: ${done()} ${counted} in ${seconds(performance.now())} s, no difference\n`);
  for (const [what, count] of [...totals].sort()) write(`  ${what}: ${count}\n`);
  return true;
}

/** Lives of a group. A difference is printed with the steps that show it. */
export async function simulate(options: Lives & { readonly operations: number; readonly plant?: Plant }) {
  const { operations, write, plant } = options;
  const digests = createHash('sha256');
  const isSame = await liveAll(options, 'operations', operations, async (seed, left) => {
    const plan = drawPlan(seed, Math.min(operationsPerSeed, left));
    const { step, digest, ...lived } = await run(seed, plan, plant);
    digests.update(digest);
    const explain = async ({ rule, message }: Difference) => {
      write(`seed ${seed}, step ${step}: ${message}\n`);
      const short = await shorten(seed, { ...plan, steps: plan.steps.slice(0, step + 1) }, rule, plant);
      write(`${short.steps.length} of ${step + 1} steps show it (${short.message}):\n`);
      for (const one of short.steps) write(`  ${JSON.stringify(one)}\n`);
      write(`again: npm run sim -- --seed ${seed} --operations ${operationsPerSeed}\n`);
    };
    return { ...lived, explain };
  });
  if (isSame) write(`  digest: ${digests.digest('hex')}\n`);
  return isSame;
}

/** Lives of clusters. A broken invariant is printed with the last notes of the nodes. */
export function simulateClusters(options: Lives & { readonly faults: number }): Promise<boolean> {
  const { faults, write } = options;
  return liveAll(options, 'faults', faults, async (seed) => {
    const notes: string[] = [];
    const { atMs, ...lived } = await live({ seed, note: (text) => notes.push(text) });
    const explain = ({ message }: Difference) => {
      write(`${notes.slice(-notesMax).join('\n')}\nseed ${seed} at ${atMs} ms: ${message}\n`);
      write(`again: npm run sim -- cluster --seed ${seed} --faults 1\n`);
    };
    return { ...lived, explain };
  });
}
