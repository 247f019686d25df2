/** Lives of simulated clusters, one seed after the other, their sum, and what is shown of a broken invariant. */
import { live } from './life.js';

export interface ClusterSimulation {
  readonly seed: number;
  /** Seeds are lived until so many faults have happened. */
  readonly faults: number;
  readonly write: (text: string) => void;
  /** How often the progress is shown, in ms. */
  readonly progressMs?: number;
  /** Ends it after the life that is being lived. */
  readonly signal?: AbortSignal;
}

/** The last notes of the nodes that are shown with a broken invariant. */
const notesMax = 40;

/** True where no invariant was broken. The first broken one ends it. */
export async function simulateCluster(simulation: ClusterSimulation): Promise<boolean> {
  const { seed, faults, write, progressMs = 5_000, signal } = simulation;
  const started = performance.now();
  const totals = new Map<string, number>();
  const done = () => totals.get('faults') ?? 0;
  let reportedAt = started;
  let virtualMs = 0;
  let next = seed;
  for (; (next === seed || done() < faults) && signal?.aborted !== true; next++) {
    const notes: string[] = [];
    const { difference, atMs, counts } = await live({ seed: next, note: (text) => notes.push(text) });
    for (const [what, count] of counts) totals.set(what, (totals.get(what) ?? 0) + count);
    virtualMs += atMs;
    if (difference !== null) {
      write(`${notes.slice(-notesMax).join('\n')}\nseed ${next} at ${atMs} ms: ${difference.message}\n`);
      write(`again: npm run sim -- cluster --seed ${next} --faults 1\n`);
      return false;
    }
    if (performance.now() - reportedAt < progressMs) continue;
    reportedAt = performance.now();
    write(`seed ${next}: ${done()} of ${faults} faults, ${Math.round((reportedAt - started) / 1000)} s\n`);
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  write(`seeds ${seed} to ${next - 1}: ${done()} faults in ${seconds} s (${Math.round(virtualMs / 1000)} virtual s), `);
  write('no invariant broken\n');
  for (const [what, count] of [...totals].sort()) write(`  ${what}: ${count}\n`);
  return true;
}
