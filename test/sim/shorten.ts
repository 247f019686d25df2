/**
 * Delta debugging: leaves out parts of a list of steps for as long as what is left shows the same kind of difference.
 */
import { type Plant, run } from './run.js';
import type { Plan, Step } from './steps.js';

/** Runs after which the shortest list so far is good enough. */
const enough = 600;

export interface Shortened {
  readonly steps: readonly Step[];
  readonly message: string;
}

/** Halves, quarters and ever smaller parts are left out in turn (A. Zeller, R. Hildebrandt, 2002). */
export async function shorten(
  seed: number,
  plan: Plan,
  rule: string,
  plant: Plant = {},
  runsMax = enough,
): Promise<Shortened> {
  let best: Shortened = { steps: plan.steps, message: '' };
  let runs = 0;
  let size = Math.ceil(plan.steps.length / 2);
  for (;;) {
    let shorter = false;
    for (let at = best.steps.length - size; runs < runsMax; at -= size) {
      const steps = best.steps.toSpliced(Math.max(0, at), Math.min(size, at + size));
      runs++;
      const { difference, step } = await run(seed, { ...plan, steps }, plant);
      if (difference?.rule === rule) {
        best = { steps: steps.slice(0, step + 1), message: difference.message };
        shorter = true;
      }
      if (at <= 0) break;
      at = Math.min(at, best.steps.length);
    }
    if (runs >= runsMax || (size === 1 && !shorter)) return best;
    size = shorter ? Math.min(size, Math.ceil(best.steps.length / 2)) : Math.ceil(size / 2);
  }
}
