/**
 * Plays a data set into a node through its public interface, as the peers of the set would, reads every player back
 * and judges the scores against the known truth. With `--kill-midway` it also shows that no acknowledged event is lost.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { ApiClient, type EventBody, type HealthReply, type RegisteredPeer } from './api-client.js';
import { loadTrustSet, type TrustSet } from './data/trust-set.js';
import { type Quality, quality } from './metrics.js';
import { buildNode, OwnNode } from './own-node.js';
import { inParallel } from './parallel.js';
import { randomFrom, shuffle } from './quality/random.js';
import { fileToWrite, type Scenario, wholeNumber } from './scenario.js';
import { writeTold } from './written-file.js';

/** The contract's bounds of one batch and of one match read. */
const batchEvents = 500;
const idsPerRead = 128;
const gameId = 'replay';
/** For observations without a time of their own: in the past, and the same in every run. */
const fixedTimestamp = '2020-01-01T00:00:00.000Z';
const settlePollMs = 100;
const answerTimeoutMs = 5_000;

interface ReplayOptions {
  readonly data: string;
  readonly set: string;
  readonly url?: string;
  readonly run: string;
  readonly seed?: number;
  readonly inFlight: number;
  readonly settle: number;
  readonly pretrust?: true;
  readonly killMidway?: true;
  readonly json?: string | true;
}

interface ReplayReport {
  readonly set: string;
  readonly run: string;
  readonly peers: number;
  readonly players: number;
  readonly observations: number;
  readonly registered_per_s: number;
  readonly events_per_s: number;
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: number;
  readonly first_rejection: string | null;
  readonly event_count: number;
  readonly weights_based_on_seq: number;
  readonly last_seq: number;
  readonly auc: number;
  readonly accuracy: number;
  readonly brier: number;
}

export const replay: Scenario = {
  name: 'replay',
  summary: 'play a data set into a node, read all scores back, judge them against the truth',
  define(command: Command): void {
    command
      .requiredOption('--data <folder>', 'folder of the data sets')
      .requiredOption('--set <name>', 'data set to play')
      .option('--url <address>', 'a running node; without it one is started in a temporary folder')
      .option('--run <id>', 'names this run: the same run on the same node sends the same event and player ids', 'r1')
      .option(
        '--seed <n>',
        'send the batches in a shuffled order; without it in the order of the peers',
        wholeNumber(0),
      )
      .option('--in-flight <n>', 'batches on their way at once', wholeNumber(1), 8)
      .option('--settle <seconds>', 'longest wait for the peer weights before reading', wholeNumber(0), 10)
      .option('--pretrust', 'make the pre-trusted peers of the set so by the operator command (own node only)')
      .option('--kill-midway', 'SIGKILL the node amid the sending, restart it, resume (own node only)')
      .option('--json [file]', 'one JSON document, on standard output or into a file', fileToWrite)
      .action(run);
  },
};

async function run(options: ReplayOptions): Promise<void> {
  if (options.url !== undefined && (options.pretrust || options.killMidway)) {
    throw new Error('--pretrust and --kill-midway need a node of their own: leave --url out');
  }
  const set = loadTrustSet(options.data, options.set);
  if (options.url !== undefined) {
    await mustAnswer(options.url);
    tell(await play(set, options, options.url, undefined), options);
    return;
  }
  await buildNode();
  const node = new OwnNode();
  try {
    await node.start();
    tell(await play(set, options, node.url, node), options);
  } finally {
    await node.stop();
  }
}

/** The calls of a replay try again for a minute, as a node that is started again needs it: whether there is one is asked once, before. */
async function mustAnswer(url: string): Promise<void> {
  let status: number;
  try {
    const response = await fetch(new URL('/api/v1/health', url), { signal: AbortSignal.timeout(answerTimeoutMs) });
    await response.arrayBuffer();
    status = response.status;
  } catch (error) {
    const { message, cause } = error as Error;
    throw new Error(`no node answers at ${url}: ${cause instanceof Error ? cause.message || cause : message}`);
  }
  if (status !== 200) throw new Error(`no node answers at ${url}: its health is ${status}`);
}

async function play(
  set: TrustSet,
  options: ReplayOptions,
  url: string,
  node: OwnNode | undefined,
): Promise<ReplayReport> {
  const client = new ApiClient(url, options.inFlight);
  try {
    const registering = performance.now();
    const peers = await registerPeers(client, set, options.inFlight);
    const registerS = secondsSince(registering);
    if (options.pretrust) {
      for (const peer of set.preTrusted) await node!.operate('pretrust', 'add', peers[peer]!.peer_id);
    }
    const batches = makeBatches(set, options.run, peers);
    if (options.seed !== undefined) shuffle(batches, randomFrom(options.seed));
    const sending = performance.now();
    const sent = await sendBatches(client, batches, options, node);
    const sendS = secondsSince(sending);
    const health = await settled(client, options.settle * 1000);
    const read = await readBack(client, set, options);
    return {
      set: set.name,
      run: options.run,
      peers: set.peers.length,
      players: set.players.length,
      observations: set.observations.length,
      registered_per_s: set.peers.length / registerS,
      events_per_s: set.observations.length / sendS,
      ...sent,
      event_count: read.eventCount,
      weights_based_on_seq: health.weights.based_on_seq,
      last_seq: health.last_seq,
      ...read.quality,
    };
  } finally {
    await client.close();
  }
}

function registerPeers(client: ApiClient, set: TrustSet, inFlight: number): Promise<RegisteredPeer[]> {
  return inParallel('registering peers', set.peers, inFlight, (name) => client.register(`${set.name} ${name}`, gameId));
}

interface Batch {
  readonly apiKey: string;
  readonly events: EventBody[];
}

/** One batch carries one peer's key, so each peer's observations are cut on their own. */
function makeBatches(set: TrustSet, runId: string, peers: readonly RegisteredPeer[]): Batch[] {
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
      timestamp: observation.timestampMs === null ? fixedTimestamp : new Date(observation.timestampMs).toISOString(),
    });
  });
  return batches;
}

/** In the form of a UUIDv4, the same for the same observation of the same run. */
function eventId(setName: string, runId: string, index: number): string {
  const hex = createHash('sha256').update(`${setName}\n${runId}\n${index}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Sets and runs on one node keep apart. */
function playerId(set: TrustSet, runId: string, player: number): string {
  return `${set.name}/${runId}/${set.players[player]}`;
}

interface Sent {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: number;
  readonly first_rejection: string | null;
}

async function sendBatches(
  client: ApiClient,
  batches: readonly Batch[],
  options: ReplayOptions,
  node: OwnNode | undefined,
): Promise<Sent> {
  let accepted = 0;
  let duplicates = 0;
  let rejected = 0;
  let firstRejection: string | null = null;
  let acknowledged = 0;
  let restarted: Promise<void> | undefined;
  await inParallel('sending batches', batches, options.inFlight, async (batch) => {
    const reply = await client.submit(batch.events, batch.apiKey);
    accepted += reply.accepted;
    duplicates += reply.duplicates;
    rejected += reply.rejected;
    const fault = reply.results.find(({ status }) => status !== 201 && status !== 409);
    if (fault !== undefined) firstRejection ??= `${fault.status} ${fault.code ?? ''}`;
    acknowledged++;
    if (!options.killMidway || acknowledged < batches.length / 2) return;
    // Meanwhile the batches that the kill cut off are resent until the node is back.
    restarted ??= restart(node!);
    await restarted;
  });
  return { accepted, duplicates, rejected, first_rejection: firstRejection };
}

async function restart(node: OwnNode): Promise<void> {
  console.error('killing the node amid the sending');
  await node.kill();
  await node.start();
  console.error('the node is back');
}

/** Waits until the peer weights cover all that was sent, or the time is up. */
async function settled(client: ApiClient, patienceMs: number): Promise<HealthReply> {
  const first = await client.health();
  const giveUpMs = performance.now() + patienceMs;
  let health = first;
  while (health.weights.based_on_seq < first.last_seq && performance.now() < giveUpMs) {
    await delay(settlePollMs);
    health = await client.health();
  }
  return health;
}

async function readBack(
  client: ApiClient,
  set: TrustSet,
  options: ReplayOptions,
): Promise<{ eventCount: number; quality: Quality }> {
  const badness = new Float64Array(set.players.length).fill(0.5);
  let eventCount = 0;
  const pages: number[] = [];
  for (let first = 0; first < set.players.length; first += idsPerRead) pages.push(first);
  await inParallel('reading scores', pages, options.inFlight, async (first) => {
    const players = Array.from(set.players.slice(first, first + idsPerRead), (_, i) => first + i);
    const scores = await client.scores(players.map((player) => playerId(set, options.run, player)));
    scores.forEach((score, i) => {
      if (score.code !== undefined) return;
      badness[players[i]!] = (100 - score.score) / 100;
      eventCount += score.event_count;
    });
  });
  return { eventCount, quality: quality(badness, set.truth) };
}

/** Prints the report; a rejected or a lost event fails the run. */
function tell(report: ReplayReport, options: ReplayOptions): void {
  const allCounted = report.event_count === report.observations;
  if (report.rejected > 0 || !allCounted) process.exitCode = 1;
  if (options.json === true) {
    console.log(JSON.stringify(report, null, 2));
    return;
  }
  if (options.json !== undefined) writeTold(options.json, `${JSON.stringify(report, null, 2)}\n`);
  const rejection = report.first_rejection === null ? '' : ` (the first: ${report.first_rejection})`;
  const stale = report.weights_based_on_seq < report.last_seq ? ', not settled' : '';
  console.log(
    [
      `${report.set}: ${report.observations} observations by ${report.peers} peers on ${report.players} players`,
      `registered ${report.registered_per_s.toFixed(0)} peers/s, sent ${report.events_per_s.toFixed(0)} events/s`,
      `accepted ${report.accepted}, duplicates ${report.duplicates}, rejected ${report.rejected}${rejection}`,
      allCounted
        ? `all ${report.observations} observations accounted for`
        : `FAILED: ${report.event_count} of ${report.observations} observations accounted for`,
      `peer weights based on record ${report.weights_based_on_seq} of ${report.last_seq}${stale}`,
      `AUC ${percent(report.auc)}  accuracy ${percent(report.accuracy)}  Brier ${report.brier.toFixed(4)}`,
    ].join('\n'),
  );
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

function secondsSince(startMs: number): number {
  return (performance.now() - startMs) / 1000;
}
