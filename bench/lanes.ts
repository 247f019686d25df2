/** This service's node in the ways that it can run: with the lane in front of Koa where this build has one, and without. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Site } from './load/requests.js';
import { type FilledOptions, startFilled } from './node-target.js';
import type { OwnNode } from './own-node.js';
import type { Target } from './target.js';

const variable = 'FAST_LANE';

export interface Way {
  readonly target: Target;
  readonly site: Site;
  readonly node: OwnNode;
}

/** The node as it runs by default comes first. */
export async function startWays(options: FilledOptions): Promise<Way[]> {
  const ways = [await startFilled('node', options)];
  if (hasLane()) {
    ways.push(
      await startFilled('node, all Koa', { ...options, environment: { ...options.environment, [variable]: 'false' } }),
    );
  }
  return ways;
}

function hasLane(): boolean {
  const variables = fileURLToPath(new URL('../../dist/variables.js', import.meta.url));
  return readFileSync(variables, 'utf8').includes(variable);
}
