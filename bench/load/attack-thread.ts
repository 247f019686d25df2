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

const begin = {
  'half batches': halfBatches,
  'flood of batches': floodOfBatches,
  'idle connections': (port, _, count) => idleConnections(port, count),
  'old repeats': oldRepeats,
  'many old repeats': oldRepeats,
  'repeated matches': (port, _, count) => repeatedMatches(port, count),
  tunnels: (port, _, count) => tunnels(port, count),
  'slow commands': slowCommands,
  'unread streams': (port, attacker, count) => verdictStreams(port, attacker, count, false),
} satisfies Record<string, (port: number, attacker: Credentials, count: number) => Promise<Attack>>;

export type AttackName = keyof typeof begin;

export interface AttackTask {
  readonly name: AttackName;
  readonly port: number;
  readonly attacker: Credentials;
  /** Number of connections. */
  readonly count: number;
}

const task = workerData as AttackTask;
// On Linux the priority is that of this thread alone.
setPriority(attackNiceness);
const attack = await begin[task.name](task.port, task.attacker, task.count);
parentPort!.postMessage('under way');
await once(parentPort!, 'message');
await attack.end();
parentPort!.postMessage(attack.opened());
parentPort!.close();
