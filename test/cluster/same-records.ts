/** Waits until all nodes of a group have applied the same records. */
import { setTimeout as delay } from 'node:timers/promises';
import { appliedSeq, type GroupNode, within } from '../../bench/cluster/node-group.js';

/** Weights are computed a while after the last event, and are a record. */
const stillMs = 3_000;

/** Resolves to the last record, once all nodes have applied the same records. */
export async function sameSeq(nodes: readonly GroupNode[]): Promise<number> {
  let seqs: number[] = [];
  await within(nodes, 'the nodes do not apply the same records', async () => {
    seqs = await Promise.all(nodes.map(appliedSeq));
    return seqs[0] !== -1 && new Set(seqs).size === 1;
  });
  return seqs[0]!;
}

/** Resolves to the last record, once all nodes have applied the same records and no more records follow. */
export async function quietSeq(nodes: readonly GroupNode[]): Promise<number> {
  let last = -1;
  await within(nodes, 'the nodes still apply records', async () => {
    const before = await sameSeq(nodes);
    await delay(stillMs);
    last = await sameSeq(nodes);
    return last === before;
  });
  return last;
}
