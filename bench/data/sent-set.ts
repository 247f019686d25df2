/**
 * Sends a data set to a node as the peers of the set would, and reads every player back. Callers decide what a failure
 * means.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventBody } from '../../src/contract/request-bodies.js';
import type { ApiClient, HealthReply, RegisteredPeer, ScoreReply } from '../api-client.js';
import { inParallel } from '../parallel.js';
import type { TrustSet } from './trust-set.js';

/** Bounds of one batch and of one match read in the contract. */
const batchEvents = 500;
const idsPerRead = 128;
const gameId = 'replay';
/**
 * Time of the first observation without a time; the next ones follow a second apart. The times lie in the past and are
 * the same in every run. No two are equal, because a node may take equal events of one time for repeats.
 */
const firstTimestampMs = Date.UTC(2020, 0, 1);
const settlePollMs = 100;

/** Registers the peers of the set. Their ids follow the order of the set only if `inFlight` is 1. */
export function registerPeers(client: ApiClient, set: TrustSet, inFlight: number): Promise<RegisteredPeer[]> {
  return inParallel('registering peers', set.peers, inFlight, (name) => client.register(`${set.name} ${name}`, gameId));
}

export interface Batch {
  readonly apiKey: string;
  readonly events: EventBody[];
}

/** Cuts the observations of each peer into batches. One batch carries the key of one peer. */
export function makeBatches(set: TrustSet, runId: string, peers: readonly RegisteredPeer[]): Batch[] {
  const batches: Batch[] = [];
  const open = new Map<number, Batch>();
  set.observations.forEach((observation, index) => {
    const peer = peers[observation.peer]!;
    let batch = open.get(observation.peer);
    if (batch === undefined || batch.events.length === batchEvents) {
      batch = { apiKey: peer.api_key, events: [] };
      open.set(observation.peer, batch);
      batches.push(batch);
    }
    batch.events.push({
      schema_version: '1.0.0',
      event_id: eventId(set.name, runId, index),
      event_type: observation.polarity < 0 ? 'ban_applied' : 'commendation',
      peer_id: peer.peer_id,
      player_id: playerId(set, runId, observation.player),
      game_id: gameId,
      severity: observation.severity,
      timestamp: new Date(observation.timestampMs ?? firstTimestampMs + 1000 * index).toISOString(),
    });
  });
  return batches;
}

/** Returns an id in the form of a UUIDv4 that follows from the observation and the run. */
function eventId(setName: string, runId: string, index: number): string {
  const hex = createHash('sha256').update(`${setName}\n${runId}\n${index}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Includes set and run, so that sets and runs on one node do not mix. */
function playerId(set: TrustSet, runId: string, player: number): string {
  return `${set.name}/${runId}/${set.players[player]}`;
}

/** Waits until the peer weights cover all sent events, or until the time is up. */
export async function settled(client: ApiClient, patienceMs: number): Promise<HealthReply> {
  const first = await client.health();
  const giveUpMs = performance.now() + patienceMs;
  let health = first;
  while (health.weights.based_on_seq < first.last_seq && performance.now() < giveUpMs) {
    await delay(settlePollMs);
    health = await client.health();
  }
  return health;
}

/** Returns the node's answer about every player of the set, in the order of the players. */
export async function readScores(
  client: ApiClient,
  set: TrustSet,
  runId: string,
  inFlight: number,
): Promise<ScoreReply[]> {
  const pages: number[] = [];
  for (let first = 0; first < set.players.length; first += idsPerRead) pages.push(first);
  const answers = await inParallel('reading scores', pages, inFlight, (first) => {
    const players = Array.from(set.players.slice(first, first + idsPerRead), (_, i) => first + i);
    return client.scores(players.map((player) => playerId(set, runId, player)));
  });
  return answers.flat();
}
