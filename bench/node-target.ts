/** A node of this service as a target, over a folder that was filled beforehand. */
import { once } from 'node:events';
import { cpSync, readdirSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import type { HealthReply } from './api-client.js';
import { credentials, type Population } from './core/population.js';
import { runTask } from './core/tasks.js';
import type { Site } from './load/requests.js';
import { OwnNode } from './own-node.js';
import type { Target } from './target.js';
import { until } from './until.js';

export interface FilledOptions extends Population {
  /** Share of the events that a snapshot covers. Null: no snapshot is written. */
  readonly snapshotAfter: number | null;
  /** Variables of the node in addition to those of a bench. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Control group that the node joins. */
  readonly memoryGroup?: string;
}

/** A stopped node and the contents of its folder. */
export interface FilledNode {
  readonly node: OwnNode;
  readonly site: Site;
  readonly salt: string;
  /** Events in the folder before the first start. */
  readonly events: number;
}

export interface RunningNode extends FilledNode {
  readonly target: Target;
}

const salt = 'a salt of the bench';
const settleTimeoutMs = 300_000;

/** Decay is on, as in service, but so slow that the fixed time of the events has no effect. */
const settings = { GROUP_SALT: salt, HALF_LIFE_DAYS: '3650', LOG_LEVEL: 'info' };

/** Returns a stopped node with a folder full of events. */
export async function filledNode(options: FilledOptions): Promise<FilledNode> {
  const { players, peers, seed, snapshotAfter, knownToAll = 0 } = options;
  const node = new OwnNode({ ...settings, ...options.environment }, { memoryGroup: options.memoryGroup });
  await node.form();
  const task = { players, peers, seed, knownToAll, snapshotAfter, dir: node.dataDir, salt };
  const events = await runTask('fill', task, `filling a folder, ${players} players`);
  return { node, site: { seed, players, peers: credentials(options) }, salt, events };
}

/** Copies the folder for a node with other variables in addition to those of a bench. */
export function copyOf(filled: FilledNode, environment: Readonly<Record<string, string>>): FilledNode {
  const node = new OwnNode({ ...settings, ...environment });
  cpSync(filled.node.dataDir, node.dataDir, { recursive: true });
  return { ...filled, node };
}

/** Starts the node and waits for its peer weights. */
export async function startNode(name: string, filled: FilledNode): Promise<RunningNode> {
  const { node } = filled;
  await node.start();
  await settled(node);
  return { ...filled, target: node.target(name) };
}

/**
 * A kept-alive agent instead of `fetch`: the thread that generates the load asks, and `fetch` would delay it by a
 * millisecond each time.
 */
const agent = new Agent({ keepAlive: true, noDelay: true });

export async function health(node: OwnNode): Promise<HealthReply> {
  const [response] = (await once(get(`${node.url}/api/v1/health`, { agent }), 'response')) as [IncomingMessage];
  return (await json(response)) as HealthReply;
}

/** Resolves to the answer of the health check once the peer weights cover every record of the time of the call. */
export async function settled(node: OwnNode, everyMs = 50): Promise<HealthReply> {
  const { last_seq } = await health(node);
  const look = async () => {
    const reply = await health(node);
    return reply.weights.based_on_seq >= last_seq && reply;
  };
  const patience = { timeoutMs: settleTimeoutMs, everyMs };
  return until(look, patience, 'the peer weights were not computed within the time limit');
}

export function snapshotsOf(node: OwnNode): string[] {
  return readdirSync(node.dataDir)
    .filter((name) => name.startsWith('snapshot-'))
    .sort();
}
