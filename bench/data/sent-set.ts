/**
 * Sends a data set to a node as the peers of the set would, and reads every player back. Callers decide what a failure
 * means.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventBody } from '../../src/contract/request-bodies.js';
import type { ApiClient, HealthReply, RegisteredPeer, ScoreReply } from '../api-client.js';
import { inParallel } from '../progress.js';
import type { LifeEvent, LifeGroup } from './life-set.js';
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
const dayMs = 86_400_000;

/** The ids of peers and players follow from these names. */
export type SentGroup = Pick<TrustSet, 'name' | 'peers' | 'players'>;

/** Registers the peers of the group. Their ids follow the order of the group only if `inFlight` is 1. */
export function registerPeers(client: ApiClient, set: SentGroup, inFlight: number): Promise<RegisteredPeer[]> {
  return inParallel('registering peers', set.peers, inFlight, (name) => client.register(`${set.name} ${name}`, gameId));
}

export interface Batch {
  /** Undefined for a batch that only a node without authentication accepts. */
  readonly apiKey?: string;
  readonly events: EventBody[];
}

/** Cuts the observations of each peer into batches. One batch carries the key of one peer. */
export function makeBatches(set: TrustSet, runId: string, peers: readonly RegisteredPeer[]): Batch[] {
  const batches: Batch[] = [];
  const open = new Map<number, Batch>();
  set.observations.forEach(({ peer, player, polarity, severity, timestampMs }, index) => {
    const { peer_id: peerId, api_key: apiKey } = peers[peer]!;
    let batch = open.get(peer);
    if (batch === undefined || batch.events.length === batchEvents) {
      batch = { apiKey, events: [] };
      open.set(peer, batch);
      batches.push(batch);
    }
    const type = polarity < 0 ? 'report_cheating' : 'commendation';
    const sentMs = timestampMs ?? firstTimestampMs + 1000 * index;
    batch.events.push(eventBody(set, runId, index, peerId, { player, type, severity }, sentMs));
  });
  return batches;
}

/**
 * Cuts the events into batches in the order of arrival; the last day of the group ends at `nowMs`. Moves equal events
 * of one millisecond apart, because a node may take them for repeats.
 */
export function makeOrderedBatches(
  group: LifeGroup,
  runId: string,
  peers: readonly RegisteredPeer[],
  nowMs: number,
): Batch[] {
  const latestMs = new Map<string, number>();
  const bodies = group.events.map((event, index) => {
    const series = `${event.peer} ${event.player} ${event.type}`;
    const occurredMs = Math.round(nowMs - (group.days - event.day) * dayMs);
    const sentMs = Math.max(occurredMs, (latestMs.get(series) ?? 0) + 1);
    latestMs.set(series, sentMs);
    return eventBody(group, runId, index, peers[event.peer]!.peer_id, event, sentMs);
  });
  return Array.from({ length: Math.ceil(bodies.length / batchEvents) }, (_, i) => ({
    events: bodies.slice(i * batchEvents, (i + 1) * batchEvents),
  }));
}

function eventBody(
  group: SentGroup,
  runId: string,
  index: number,
  peerId: string,
  { player, type, severity }: Pick<LifeEvent, 'player' | 'type' | 'severity'>,
  timestampMs: number,
): EventBody {
  return {
    schema_version: '1.0.0',
    event_id: eventId(group.name, runId, index),
    event_type: type,
    peer_id: peerId,
    player_id: playerId(group, runId, player),
    game_id: gameId,
    severity,
    timestamp: new Date(timestampMs).toISOString(),
  };
}

/** Returns an id in the form of a UUIDv4 that follows from the observation and the run. */
function eventId(setName: string, runId: string, index: number): string {
  const hex = createHash('sha256').update(`${setName}\n${runId}\n${index}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Includes set and run, so that sets and runs on one node do not mix. */
function playerId(set: SentGroup, runId: string, player: number): string {
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

export async function readScores(
  client: ApiClient,
  set: SentGroup,
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
