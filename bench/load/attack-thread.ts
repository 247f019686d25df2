/**
 * Thread of `startAttack`. Runs an attack outside the event loop of the measuring thread, and behind it where both want
 * the core: a victim whose requests are sent late would measure the attacker's machine, not the node.
 */
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import {
  type Attack,
  floodOfBatches,
  halfBatches,
  idleConnections,
  oldRepeats,
  repeatedMatches,
  slowCommands,
  tunnels,
  verdictStreams,
} from './attackers.js';
import type { Credentials } from './requests.js';

const attackNiceness = 10;

interface AttackOptions {
  readonly port: number;
  readonly attacker: Credentials;
  /** Number of connections. */
  readonly count: number;
}

const begin = {
  'half batches': ({ port, attacker, count }) => halfBatches(port, attacker, count),
  'flood of batches': ({ port, attacker, count }) => floodOfBatches(port, attacker, count),
  'idle connections': ({ port, count }) => idleConnections(port, count),
  'old repeats': ({ port, attacker, count }) => oldRepeats(port, attacker, count),
  'repeated matches': ({ port, count }) => repeatedMatches(port, count),
  tunnels: ({ port, count }) => tunnels(port, count),
  'slow commands': ({ port, attacker, count }) => slowCommands(port, attacker, count),
  'unread streams': ({ port, attacker, count }) => verdictStreams(port, attacker, count, false),
} satisfies Record<string, (options: AttackOptions) => Promise<Attack>>;

export type AttackName = keyof typeof begin;

export interface AttackTask extends AttackOptions {
  readonly name: AttackName;
}

const task = workerData as AttackTask;
// On Linux the priority is that of this thread alone.
setPriority(attackNiceness);
const attack = await begin[task.name](task);
parentPort!.postMessage('under way');
await once(parentPort!, 'message');
await attack.end();
parentPort!.postMessage(attack.opened());
parentPort!.close();
