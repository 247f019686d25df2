/** This service's node in the ways that it can run: with the lanes in front of Koa, and without. */
import { copyOf, type FilledOptions, filledNode, type RunningNode, startNode } from './node-target.js';

/** The node as it runs by default comes first. */
export async function startWays(options: FilledOptions): Promise<RunningNode[]> {
  const filled = await filledNode(options);
  const withoutLanes = copyOf(filled, { ...options.environment, FAST_LANE: 'false' });
  return [await startNode('node', filled), await startNode('node, all Koa', withoutLanes)];
}
