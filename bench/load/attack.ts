/** Runs an attack in its own thread. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { AttackTask } from './attack-thread.js';

/**
 * Resolves once all connections of the attack are open, to a function that ends it. That function resolves to the
 * number of connections that the attack has opened.
 */
export async function startAttack(task: AttackTask): Promise<() => Promise<number>> {
  const thread = new Worker(new URL('./attack-thread.js', import.meta.url), { workerData: task });
  await once(thread, 'message');
  return async () => {
    const ended = once(thread, 'exit');
    const opened = once(thread, 'message');
    thread.postMessage('end');
    await ended;
    return (await opened)[0] as number;
  };
}
