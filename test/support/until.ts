/** The one way in which tests wait for what a node does by itself. */
import { setTimeout as delay } from 'node:timers/promises';

/** Far longer than anything takes on a busy machine: whoever waits for so long waits for what never comes. */
const waitMs = 120_000;

/** Resolves once `condition` holds; rejects where it never does. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + waitMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`it did not happen in ${waitMs} ms: ${condition}`);
    await delay(10);
  }
}
