/** A node of this service as a target, over a folder that was filled beforehand. */
import { readdirSync } from 'node:fs';
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
  /** Variables of the node on top of those of a bench. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface FilledNode {
  readonly node: OwnNode;
  readonly site: Site;
  readonly salt: string;
  readonly events: number;
}

const salt = 'a salt of the bench';
const settlePollMs = 50;
const settleTimeoutMs = 300_000;

/** Decay is on, as in service, but so slow that the fixed time of the events means nothing. */
const settings = { GROUP_SALT: salt, HALF_LIFE_DAYS: '3650', LOG_LEVEL: 'info' };

/** A node that is stopped, with a folder full of events. */
export async function filledNode(options: FilledOptions): Promise<FilledNode> {
  const { players, peers, seed, snapshotAfter } = options;
  const node = new OwnNode({ ...settings, ...options.environment });
  // Forms the group.
  await node.start();
  await node.halt();
  const task = { players, peers, seed, snapshotAfter, dir: node.dataDir, salt };
  const { events } = await runTask('fill', task, `filling a folder, ${players} players`);
  return { node, site: { seed, players, peers: credentials(options) }, salt, events };
}

export function nodeTarget(name: string, node: OwnNode): Target {
  return {
    name,
    host: '127.0.0.1',
    port: node.port,
    pids: [node.pid!],
    loopSamples: node.loopSamples,
    stop: () => node.stop(),
  };
}

/** A running node over a filled folder, its peer weights computed. */
export async function startFilled(
  name: string,
  options: FilledOptions,
): Promise<{ target: Target; site: Site; node: OwnNode }> {
  const { node, site } = await filledNode(options);
  await node.start();
  await settled(node);
  return { target: nodeTarget(name, node), site, node };
}

export async function health(node: OwnNode): Promise<HealthReply> {
  const response = await fetch(`${node.url}/api/v1/health`);
  return (await response.json()) as HealthReply;
}

/** Resolves once the peer weights cover every record that there was at the call. */
export async function settled(node: OwnNode): Promise<void> {
  const { last_seq } = await health(node);
  const giveUpMs = performance.now() + settleTimeoutMs;
  while ((await health(node)).weights.based_on_seq < last_seq) {
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
