/**
 * Reads a group through the HTTP interface of its own node, and returns the readings in the form of the computation
 * alone.
 */
import type { Verdict } from '../../src/core/vocabulary.js';
import { ApiClient, type RegisteredPeer, type ScoreReply } from '../api-client.js';
import { makeBatches, readScores, registerPeers, settled } from '../data/sent-set.js';
import type { TrustSet } from '../data/trust-set.js';
import { OwnNode } from '../own-node.js';
import { inParallel } from '../parallel.js';

const runId = 'q1';
const inFlight = 8;
/** Short, so that a run of many groups does not wait for weights. */
const weightsIntervalMs = 500;
const settlePatienceMs = 600_000;

/** Readings by player. A player that the node does not know is neutral. */
export interface NodeReadings {
  readonly score: Float64Array;
  readonly confidence: Float64Array;
  readonly verdict: readonly Verdict[];
}

/**
 * Returns the node's answers about the players of the set and about those of the probes. The probes are sent after the
 * set is read.
 */
export async function readThroughNode(
  set: TrustSet,
  probes: TrustSet | null,
): Promise<{ readonly readings: NodeReadings; readonly probed: NodeReadings | null }> {
  const node = new OwnNode({ WEIGHTS_INTERVAL_MS: String(weightsIntervalMs) });
  try {
    await node.start();
    const client = new ApiClient(node.url, inFlight);
    try {
      // Register one at a time: among equal peers, the one that registered first represents its witness group.
      const peers = await registerPeers(client, set, 1);
      for (const peer of set.preTrusted) await node.operate('pretrust', 'add', peers[peer]!.peer_id);
      const readings = await sendAndRead(client, set, peers);
      return { readings, probed: probes && (await sendAndRead(client, probes, peers)) };
    } finally {
      await client.close();
    }
  } finally {
    await node.stop();
  }
}

async function sendAndRead(client: ApiClient, set: TrustSet, peers: readonly RegisteredPeer[]): Promise<NodeReadings> {
  await inParallel('sending batches', makeBatches(set, runId, peers), inFlight, async ({ events, apiKey }) => {
    const { accepted, results } = await client.submit(events, apiKey);
    const refused = results.find(({ status }) => status !== 201);
    if (accepted !== events.length) {
      throw new Error(`${set.name}: the node refused an event with ${refused?.status} ${refused?.code ?? ''}`);
    }
  });
  const { weights, last_seq: lastSeq } = await settled(client, settlePatienceMs);
  if (weights.based_on_seq < lastSeq) {
    throw new Error(`${set.name}: the peer weights did not cover the whole set within ${settlePatienceMs} ms`);
  }
  return readingsOf(await readScores(client, set, runId, inFlight));
}

export function readingsOf(replies: readonly ScoreReply[]): NodeReadings {
  return {
    score: Float64Array.from(replies, (reply) => ('score' in reply ? reply.score : 50)),
    confidence: Float64Array.from(replies, (reply) => ('score' in reply ? reply.confidence : 0)),
    verdict: replies.map((reply) => ('score' in reply ? reply.verdict : 'neutral')),
  };
}
