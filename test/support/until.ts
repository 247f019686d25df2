/** The only way in which tests wait for a node's own actions. The test runner hears which condition is waited for. */
import { channel } from 'node:diagnostics_channel';
import { setTimeout as delay } from 'node:timers/promises';

/** Far longer than any action takes on a busy machine, so a wait of this length would never end. */
const waitMs = 120_000;
const waits = channel('ptf.test.until');

/** Resolves once `condition` is true. Rejects if it stays false. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + waitMs;
  if (await condition()) return;
  waits.publish(`${condition}`);
  do {
    if (performance.now() > end) throw new Error(`the condition was still false after ${waitMs} ms: ${condition}`);
    await delay(10);
  } while (!(await condition()));
  waits.publish(null);
}
