/** A node of this service as a target, over a folder that was filled beforehand. */
import { once } from 'node:events';
import { cpSync, readdirSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { HealthReply } from './api-client.js';
import { credentials } from './core/population.js';
import { runTask } from './core/tasks.js';
import type { Site } from './load/requests.js';
import { OwnNode } from './own-node.js';
import type { Target } from './target.js';

export interface FilledOptions {
  readonly players: number;
  readonly peers: number;
  readonly seed: number;
  /** Share of the events that a snapshot covers; null: none is made. */
  readonly snapshotAfter: number | null;
  /** As of a `Population`. */
  readonly everyPair?: boolean;
  /** Variables of the node on top of those of a bench. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Joined by the node (`memory-group.ts`). */
  readonly memoryGroup?: string;
}

/** A node that does not run, with what its folder holds. */
export interface FilledNode {
  readonly node: OwnNode;
  readonly site: Site;
  readonly salt: string;
  readonly events: number;
}

/** A node that runs. */
export interface RunningNode {
  /** That its folder held at the start. */
  readonly events: number;
  readonly target: Target;
  readonly site: Site;
  readonly salt: string;
  readonly node: OwnNode;
}

const salt = 'a salt of the bench';
const settlePollMs = 50;
const settleTimeoutMs = 300_000;

/** Decay is on, as in service, but so slow that the fixed time of the events means nothing. */
const settings = { GROUP_SALT: salt, HALF_LIFE_DAYS: '3650', LOG_LEVEL: 'info' };

/** A node that is stopped, with a folder full of events. */
export async function filledNode(options: FilledOptions): Promise<FilledNode> {
  const { players, peers, seed, snapshotAfter, everyPair = false } = options;
  const node = new OwnNode({ ...settings, ...options.environment }, options.memoryGroup);
  await node.form();
  const task = { players, peers, seed, everyPair, snapshotAfter, dir: node.dataDir, salt };
  const { events } = await runTask('fill', task, `filling a folder, ${players} players`);
  return { node, site: { seed, players, peers: credentials(options) }, salt, events };
}

/** The same folder for a node with other variables on top of those of a bench. */
export function copyOf(filled: FilledNode, environment: Readonly<Record<string, string>>): FilledNode {
  const node = new OwnNode({ ...settings, ...environment });
  cpSync(filled.node.dataDir, node.dataDir, { recursive: true });
  return { ...filled, node };
}

/** Starts it, and waits for its peer weights. */
export async function startNode(name: string, { node, site, salt, events }: FilledNode): Promise<RunningNode> {
  await node.start();
  await settled(node);
  const { port, pid, loopSamples } = node;
  return {
    target: { name, host: '127.0.0.1', port, pids: [pid!], loopSamples, stop: () => node.stop() },
    site,
    salt,
    node,
    events,
  };
}

/**
 * Kept alive, and no `fetch`: who asks is the thread that makes the load, which would be late by a millisecond each
 * time.
 */
const agent = new Agent({ keepAlive: true, noDelay: true });

export async function health(node: OwnNode): Promise<HealthReply> {
  const [response] = (await once(get(`${node.url}/api/v1/health`, { agent }), 'response')) as [IncomingMessage];
  return (await json(response)) as HealthReply;
}

/**
 * Resolves once the peer weights cover every record up to `upTo`, that there was at the call where it is left out, to
 * what the node says then.
 */
export async function settled(node: OwnNode, upTo?: number): Promise<HealthReply> {
  const last_seq = upTo ?? (await health(node)).last_seq;
  const giveUpMs = performance.now() + settleTimeoutMs;
  for (;;) {
    const reply = await health(node);
    if (reply.weights.based_on_seq >= last_seq) return reply;
    if (performance.now() > giveUpMs) throw new Error('the peer weights were not computed in time');
    await delay(settlePollMs);
  }
}

/** Names of the snapshots in the node's folder. */
export function snapshotsOf(node: OwnNode): string[] {
  return readdirSync(node.dataDir)
    .filter((name) => name.startsWith('snapshot-'))
    .sort();
}
