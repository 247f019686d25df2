/**
 * Reads a group through the HTTP interface of its own node, and returns the readings in the form of the computation
 * alone.
 */
import { ApiClient, type RegisteredPeer, type ScoreReply } from '../api-client.js';
import type { LifeGroup } from '../data/life-set.js';
import {
  type Batch,
  makeBatches,
  makeOrderedBatches,
  readScores,
  registerPeers,
  type SentGroup,
  settled,
} from '../data/sent-set.js';
import type { TrustSet } from '../data/trust-set.js';
import { OwnNode } from '../own-node.js';
import { inParallel } from '../progress.js';
import type { Readings } from './readout.js';

const runId = 'q1';
const inFlight = 8;
/** Short, so that a run of many groups does not wait for weights. */
const weightsIntervalMs = 500;
const settlePatienceMs = 600_000;

/** A player that the node does not know is neutral. */
export type NodeReadings = Omit<Readings, 'pBad'>;

/**
 * Returns the node's answers about the players of the set and about those of the probes. The probes are sent after the
 * set is read.
 */
export function readThroughNode(
  set: TrustSet,
  probes: TrustSet | null,
): Promise<{ readonly readings: NodeReadings; readonly probed: NodeReadings | null }> {
  return withNode(set, {}, async (client, peers, node) => {
    for (const peer of set.preTrusted) await node.operate('pretrust', 'add', peers[peer]!.peer_id);
    const read = (sent: TrustSet) => sendAndRead(client, sent, makeBatches(sent, runId, peers), inFlight);
    return { readings: await read(set), probed: probes && (await read(probes)) };
  });
}

/**
 * Returns the node's answers about the players of a group that arrives event by event, and decays as in the default
 * configuration. Without authentication one batch may name several peers, so that batches keep the order of arrival.
 */
export function readLifeThroughNode(group: LifeGroup): Promise<NodeReadings> {
  return withNode(group, { PEER_AUTH_ENABLED: 'false', HALF_LIFE_DAYS: '30' }, (client, peers) =>
    sendAndRead(client, group, makeOrderedBatches(group, runId, peers, Date.now()), 1),
  );
}

async function withNode<T>(
  group: SentGroup,
  environment: Readonly<Record<string, string>>,
  use: (client: ApiClient, peers: readonly RegisteredPeer[], node: OwnNode) => Promise<T>,
): Promise<T> {
  const node = new OwnNode({ WEIGHTS_INTERVAL_MS: String(weightsIntervalMs), ...environment });
  try {
    await node.start();
    const client = new ApiClient(node.url, inFlight);
    try {
      // Register one at a time: among equal peers, the one that registered first represents its witness group.
      return await use(client, await registerPeers(client, group, 1), node);
    } finally {
      await client.close();
    }
  } finally {
    await node.stop();
  }
}

async function sendAndRead(
  client: ApiClient,
  group: SentGroup,
  batches: readonly Batch[],
  batchesInFlight: number,
): Promise<NodeReadings> {
  await inParallel('sending batches', batches, batchesInFlight, async ({ events, apiKey }) => {
    const { accepted, results } = await client.submit(events, apiKey);
    const refused = results.find(({ status }) => status !== 201);
    if (accepted !== events.length) {
      throw new Error(`${group.name}: the node refused an event with ${refused?.status} ${refused?.code ?? ''}`);
    }
  });
  const { weights, last_seq: lastSeq } = await settled(client, settlePatienceMs);
  if (weights.based_on_seq < lastSeq) {
    throw new Error(`${group.name}: the peer weights did not cover the whole set within ${settlePatienceMs} ms`);
  }
  return readingsOf(await readScores(client, group, runId, inFlight));
}

export function readingsOf(replies: readonly ScoreReply[]): NodeReadings {
  return {
    score: Float64Array.from(replies, (reply) => ('score' in reply ? reply.score : 50)),
    confidence: Float64Array.from(replies, (reply) => ('score' in reply ? reply.confidence : 0)),
    verdict: replies.map((reply) => ('score' in reply ? reply.verdict : 'neutral')),
  };
}
