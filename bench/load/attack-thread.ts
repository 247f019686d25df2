/** Thread of `startAttack`. Runs an attack outside the event loop of the measuring thread. */
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { type Attack, floodOfBatches, halfBatches, idleConnections } from './attackers.js';
import type { Credentials } from './requests.js';

export type AttackName = 'half batches' | 'flood of batches' | 'idle connections';

export interface AttackTask {
  readonly name: AttackName;
  readonly port: number;
  readonly attacker: Credentials;
  /** Number of connections. */
  readonly count: number;
}

const begin: Readonly<Record<AttackName, (task: AttackTask) => Promise<Attack>>> = {
  'half batches': ({ port, attacker, count }) => halfBatches(port, attacker, count),
  'flood of batches': ({ port, attacker, count }) => floodOfBatches(port, attacker, count),
  'idle connections': ({ port, count }) => idleConnections(port, count),
};

const task = workerData as AttackTask;
const attack = await begin[task.name](task);
parentPort!.postMessage('under way');
await once(parentPort!, 'message');
await attack.end();
parentPort!.close();
