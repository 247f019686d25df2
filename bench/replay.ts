/**
 * Sends a data set to a node through its public interface, as the peers of the set would, reads every player back and
 * judges the scores against the known truth. With `--kill-midway` it also checks that no acknowledged event is lost.
 */
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { ApiClient } from './api-client.js';
import { type Batch, makeBatches, readScores, registerPeers, settled } from './data/sent-set.js';
import { loadTrustSet, type TrustSet } from './data/trust-set.js';
import { fileToWrite, type Measurement, wholeNumber } from './measurement.js';
import { buildNode, OwnNode } from './own-node.js';
import { inParallel } from './progress.js';
import { randomFrom, shuffle } from './quality/random.js';
import { readingsOf } from './quality/through-node.js';
import { writeJson } from './result.js';
import { quality } from './statistics.js';
import { timed } from './until.js';

const answerTimeoutMs = 5_000;
/** 739 events of nine invented peers about 240 players, 30 of them bad; one peer errs half of the time. */
const sampleFolder = fileURLToPath(new URL('../../bench/data/sample/', import.meta.url));

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

type ReplayReport = Awaited<ReturnType<typeof play>>;

export const replay: Measurement = {
  name: 'replay',
  summary: 'send a data set to a node, read all scores back and judge them against the truth',
  define(command: Command): void {
    command
      .option('--data <folder>', 'folder of the data sets', sampleFolder)
      .option('--set <name>', 'data set to send', 'sample')
      .option('--url <address>', 'a running node; without it one is started in a temporary folder')
      .option('--run <id>', 'names this run: the same run on the same node sends the same event and player ids', 'r1')
      .option('--seed <n>', 'shuffle the batches; by default they are sent in the order of the peers', wholeNumber(0))
      .option('--in-flight <n>', 'batches in flight at one time', wholeNumber(1), 8)
      .option('--settle <seconds>', 'longest wait for the peer weights before reading', wholeNumber(0), 10)
      .option('--pretrust', 'declare the pre-trusted peers of the set by the operator command (own node only)')
      .option('--kill-midway', 'SIGKILL the node while batches are sent, restart it and resume (own node only)')
      .option('--json [file]', 'write one JSON document to standard output or to a file', fileToWrite)
      .action(run);
  },
};

async function run(options: ReplayOptions): Promise<void> {
  if (options.url !== undefined && (options.pretrust || options.killMidway)) {
    throw new Error('--pretrust and --kill-midway need their own node: remove --url');
  }
  const set = loadTrustSet(options.data, options.set);
  if (options.url !== undefined) {
    await mustAnswer(options.url);
    printReport(await play(set, options, options.url), options);
    return;
  }
  await buildNode();
  const node = new OwnNode();
  try {
    await node.start();
    printReport(await play(set, options, node.url, node), options);
  } finally {
    await node.stop();
  }
}

/**
 * Checks that a node answers before the replay starts. The calls of a replay retry for a minute, which a restarted node
 * needs, so they would report a missing node late.
 */
async function mustAnswer(url: string): Promise<void> {
  const ask = async () => fetch(new URL('/api/v1/health', url), { signal: AbortSignal.timeout(answerTimeoutMs) });
  const answer = await ask().catch(({ message, cause }) => {
    throw new Error(`no node answers at ${url}: ${cause instanceof Error ? cause.message || cause : message}`);
  });
  await answer.body?.cancel();
  if (answer.status !== 200) throw new Error(`no node answers at ${url}: its health is ${answer.status}`);
}

async function play(set: TrustSet, options: ReplayOptions, url: string, node?: OwnNode) {
  const client = new ApiClient(url, options.inFlight);
  try {
    const [peers, registerS] = await timed(() => registerPeers(client, set, options.inFlight));
    if (options.pretrust) {
      for (const peer of set.preTrusted) await node!.operate('pretrust', 'add', peers[peer]!.peer_id);
    }
    const batches = makeBatches(set, options.run, peers);
    if (options.seed !== undefined) shuffle(batches, randomFrom(options.seed));
    const [sent, sendS] = await timed(() => sendBatches(client, batches, options, node));
    const health = await settled(client, options.settle * 1000);
    const replies = await readScores(client, set, options.run, options.inFlight);
    const badness = readingsOf(replies).score.map((score) => (100 - score) / 100);
    return {
      set: set.name,
      run: options.run,
      peers: set.peers.length,
      players: set.players.length,
      observations: set.observations.length,
      registered_per_s: set.peers.length / registerS,
      events_per_s: set.observations.length / sendS,
      ...sent,
      event_count: replies.reduce((sum, reply) => sum + ('score' in reply ? reply.event_count : 0), 0),
      weights_based_on_seq: health.weights.based_on_seq,
      last_seq: health.last_seq,
      ...quality(badness, set.truth),
    };
  } finally {
    await client.close();
  }
}

async function sendBatches(client: ApiClient, batches: readonly Batch[], options: ReplayOptions, node?: OwnNode) {
  const sent = { accepted: 0, duplicates: 0, rejected: 0, first_rejection: null as string | null };
  let acknowledged = 0;
  let restarted: Promise<void> | undefined;
  await inParallel('sending batches', batches, options.inFlight, async (batch) => {
    const reply = await client.submit(batch.events, batch.apiKey);
    for (const outcome of ['accepted', 'duplicates', 'rejected'] as const) sent[outcome] += reply[outcome];
    const fault = reply.results.find(({ status }) => status !== 201 && status !== 409);
    if (fault !== undefined) sent.first_rejection ??= `${fault.status} ${fault.code ?? ''}`;
    acknowledged++;
    if (!options.killMidway || acknowledged < batches.length / 2) return;
    // Until the node is back, the batches that the kill interrupted are resent.
    restarted ??= restart(node!);
    await restarted;
  });
  return sent;
}

async function restart(node: OwnNode): Promise<void> {
  console.error('killing the node while batches are sent');
  await node.kill();
  await node.start();
  console.error('the node is healthy again');
}

/** Prints the report. A rejected or lost event fails the run. */
function printReport(report: ReplayReport, { json }: ReplayOptions): void {
  const allCounted = report.event_count === report.observations;
  if (report.rejected > 0 || !allCounted) process.exitCode = 1;
  if (json === true) {
    console.log(JSON.stringify(report, null, 2));
    return;
  }
  if (json !== undefined) writeJson(json, report);
  const rejection = report.first_rejection === null ? '' : ` (the first: ${report.first_rejection})`;
  const stale = report.weights_based_on_seq < report.last_seq ? ', not settled' : '';
  const percent = (share: number) => `${(share * 100).toFixed(2)} %`;
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
