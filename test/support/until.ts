/** The only way in which tests wait for a node's own actions. */
import { setTimeout as delay } from 'node:timers/promises';

/** Far longer than any action takes on a busy machine, so a wait of this length would never end. */
const waitMs = 120_000;

/** Resolves once `condition` is true. Rejects if it stays false. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + waitMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`the condition was still false after ${waitMs} ms: ${condition}`);
    await delay(10);
  }
}
