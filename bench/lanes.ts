/** This service's node in the ways that it can run: with the lane in front of Koa where this build has one, and without. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { copyOf, type FilledOptions, filledNode, type RunningNode, startNode } from './node-target.js';

const variable = 'FAST_LANE';

/** The node as it runs by default comes first. */
export async function startWays(options: FilledOptions): Promise<RunningNode[]> {
  const filled = await filledNode(options);
  const withoutLane = hasLane() ? copyOf(filled, { ...options.environment, [variable]: 'false' }) : null;
  const ways = [await startNode('node', filled)];
  if (withoutLane !== null) ways.push(await startNode('node, all Koa', withoutLane));
  return ways;
}

function hasLane(): boolean {
  const variables = fileURLToPath(new URL('../../dist/variables.js', import.meta.url));
  return readFileSync(variables, 'utf8').includes(variable);
}
