/**
 * A node under a mixed load for half an hour, with a snapshot every minute, recomputation, erasures and withdrawals: whether
 * memory, files and the event loop stay as they were. An idle server beside it tells what the machine itself does to event loops.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { leaveUnpinned } from '../cores.js';
import { freePort } from '../free-port.js';
import { drive } from '../load/drive.js';
import { lagNote } from '../load/lag.js';
import { batchKind, eventKind, matchKind, mixture, scoreKind } from '../load/requests.js';
import type { LoopSample } from '../loop-sample.js';
import { filledNode, snapshotsOf, startNode } from '../node-target.js';
import { buildNode } from '../own-node.js';
import { startProgress } from '../progress.js';
import { addTellOptions, Report, type TellOptions, tell } from '../report.js';
import { median } from '../result.js';
import {
  connectionCount,
  peerCount,
  positive,
  refuseOneFileForBoth,
  requestRate,
  type Scenario,
  seedMeans,
  wholeNumber,
} from '../scenario.js';
import { ServerProcess } from '../server-process.js';
import { type RemovalCounts, removeAlong } from '../soak/removals.js';
import { logMbOf, type Sample, sampleOf } from '../soak/samples.js';
import { ownStalls } from '../soak/stalls.js';
import { bytesPerCommit, bytesPerEvent } from '../state-bytes.js';
import { batchesIn } from '../stored.js';

interface Options extends TellOptions {
  readonly minutes: number;
  readonly rate: number;
  readonly players: number;
  readonly peers: number;
  readonly connections: number;
  readonly seed: number;
}

const MB = 1e6;
const sampleEveryMs = 5_000;
/** Of the run: what is taken up before it is not growth. */
const warmUpShare = 1 / 5;
/** Event loops are late while code is compiled, for so long at most: nothing later is excused. */
const compilingMs = 30_000;
/** An erasure removes all snapshots, and a new one is made once it is quiet: so one a minute. */
const removals = { erasureEveryMs: 60_000, withdrawalEveryMs: 2_000 };
const stallMs = 50;
const idleServer = fileURLToPath(new URL('../peers/bare-http.js', import.meta.url));

export const soak: Scenario = {
  name: 'soak',
  summary: 'half an hour of everything: memory, files and stalls over time',
  define(command) {
    refuseOneFileForBoth(addTellOptions(command))
      .option('--minutes <n>', 'how long', positive, 30)
      .option('--rate <n>', 'requests a second', requestRate, 400)
      .option('--players <n>', 'players that each peer has reported before', wholeNumber(1), 10_000)
      .option('--peers <n>', 'peers that send events', peerCount, 20)
      .option('--connections <n>', 'that the load comes over', connectionCount, 32)
      .option('--seed <n>', seedMeans, wholeNumber(0), 1)
      .action(async ({ json, html, strict, ...options }: Options, command: Command) => {
        leaveUnpinned();
        await buildNode();
        // Both have values of the scenario's own, by which its goals are judged.
        const isChosen = ['rate', 'connections'].some((name) => command.getOptionValueSource(name) !== 'default');
        const report = new Report('soak', options, isChosen);
        await run(options, report);
        tell(report.result(), { json, html, strict });
      });
  },
};

async function run(options: Options, to: Report): Promise<void> {
  const idle = new ServerProcess({ script: idleServer, cwd: process.cwd(), env: {} });
  const metricsPort = await freePort();
  const environment = {
    METRICS_PORT: String(metricsPort),
    ERASURE_QUOTA_PER_DAY: '1000000',
    SNAPSHOT_EVERY: String(Math.ceil(options.rate * 60)),
    // As in deploy/: else pools of the C library, one for each thread, take memory in steps.
    MALLOC_ARENA_MAX: '2',
  };
  const filled = await filledNode({ ...options, snapshotAfter: 1, everyPair: true, environment });
  await idle.start();
  const { target, node, site } = await startNode('node', filled);
  const seconds = options.minutes * 60;
  const startedAt = Date.now();
  const samples: Sample[] = [];
  const snapshots = new Set(snapshotsOf(node));
  const ending = new AbortController();
  const progress = startProgress('soak, seconds', Math.ceil(seconds));
  try {
    const sampling = sampleUntil(ending.signal, async () => {
      const s = (Date.now() - startedAt) / 1000;
      samples.push(await sampleOf(s, node.pid!, node.dataDir, `http://127.0.0.1:${metricsPort}/metrics`));
      for (const name of snapshotsOf(node)) snapshots.add(name);
      progress.advance(Math.round(s) - Math.round(samples.at(-2)?.s ?? 0));
    });
    const removing = removeAlong(node.url, site, filled.salt, removals, ending.signal);
    const driving = drive({
      host: target.host,
      port: target.port,
      connections: options.connections,
      seconds,
      rate: options.rate,
      workload: mixture(site.seed, [
        [scoreKind(site), 80],
        [matchKind(site), 10],
        [eventKind(site), 9],
        [batchKind(site, 50), 1],
      ]),
      first: 0,
    });
    // Where one of them fails, the others need not go on to the end.
    const driven = await Promise.race([driving, failureOf(sampling), failureOf(removing)]);
    ending.abort();
    await sampling;
    tellRemovals(await removing, to);
    for (const kind of driven.kinds) {
      to.latencies(kind.name, kind.latencies.summary());
      const odd = [...kind.statuses].filter(([status]) => status < 200 || status > 299);
      if (odd.length > 0) to.fault(`${kind.name}: ${odd.map(([status, n]) => `${n} answers ${status}`).join(', ')}`);
    }
    const late = lagNote('load', [driven]);
    if (late !== undefined) to.note(late);
    to.figure('snapshots made', '', 'more', snapshots.size);
    tellMemory(samples, seconds, to);
    const compilingForMs = Math.min(compilingMs, seconds * 1000 * warmUpShare);
    to.figure('warm-up of memory, in which growth is not judged', 's', 'less', seconds * warmUpShare);
    to.figure('warm-up of code, in which stalls are not judged', 's', 'less', compilingForMs / 1000);
    tellStalls(target.loopSamples, idle.loopSamples, startedAt + compilingForMs, startedAt, to);
    await node.halt();
    await tellFile(node.dataDir, to);
    tellCourses(samples, to);
  } finally {
    progress.stop();
    ending.abort();
    await target.stop();
    await idle.end('SIGKILL');
  }
}

/** Never resolves. */
async function failureOf(work: Promise<unknown>): Promise<never> {
  await work;
  return new Promise(() => undefined);
}

async function sampleUntil(signal: AbortSignal, sample: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await sample();
    await delay(sampleEveryMs, undefined, { signal }).catch(() => undefined);
  }
}

function tellRemovals({ erasures, withdrawals, odd, longestMs }: RemovalCounts, to: Report): void {
  to.figure('erasures', '', 'more', erasures);
  to.figure('withdrawals', '', 'more', withdrawals);
  to.figure('removals: the longest until it was answered', 'ms', 'less', longestMs);
  for (const [what, count] of odd) to.fault(`removals: ${count} times ${what}`);
}

/** Growth from the first fifth after the warm-up to the last fifth of the run, less what the state takes by design. */
function tellMemory(samples: readonly Sample[], seconds: number, to: Report): void {
  const part = (from: number, until: number) => samples.filter(({ s }) => s >= from * seconds && s < until * seconds);
  const [early, late] = [part(warmUpShare, 2 * warmUpShare), part(1 - warmUpShare, Number.POSITIVE_INFINITY)];
  const judge = (beyond: number | null) =>
    to.goal(
      'growth of memory that is no file, after the warm-up, beyond what is by design',
      beyond,
      'at most',
      5,
      ' %',
    );
  if (early.length === 0 || late.length === 0) {
    to.note('Too short to tell growth of memory.');
    judge(null);
    return;
  }
  type Field = 'residentMb' | 'anonymousMb' | 'heapMb' | 'events' | 'commits';
  const middle = (of: readonly Sample[], field: Field) => median(of.map((sample) => sample[field]));
  const grown = (field: Field) => middle(late, field) - middle(early, field);
  const stateMb = (grown('events') * bytesPerEvent + grown('commits') * bytesPerCommit) / MB;
  to.figure('resident memory after the warm-up', 'MB', 'less', middle(early, 'residentMb'));
  to.figure('resident memory at the end', 'MB', 'less', middle(late, 'residentMb'));
  to.figure('of it, not of files, after the warm-up', 'MB', 'less', middle(early, 'anonymousMb'));
  to.figure('of it, not of files, at the end', 'MB', 'less', middle(late, 'anonymousMb'));
  to.figure('of the growth, by design for accepted events and turns', 'MB', 'less', stateMb);
  to.figure('heap after the warm-up', 'MB', 'less', middle(early, 'heapMb'));
  to.figure('heap at the end', 'MB', 'less', middle(late, 'heapMb'));
  judge(((grown('anonymousMb') - stateMb) / middle(early, 'anonymousMb')) * 100);
}

/** Stalls of the node's event loop, beside those of a server that does nothing: what both have, the machine did. */
function tellStalls(
  node: readonly LoopSample[],
  idle: readonly LoopSample[],
  fromMs: number,
  startedAt: number,
  to: Report,
): void {
  const after = node.filter(({ at }) => at >= fromMs);
  const own = ownStalls(after, idle, stallMs);
  const worst = (of: readonly LoopSample[]) => of.reduce((most, { max }) => Math.max(most, max), 0);
  const idleAfter = idle.filter(({ at }) => at >= fromMs);
  const before = node.filter(({ at }) => at >= startedAt && at < fromMs);
  to.figure('longest stall within the warm-up of code', 'ms', 'less', worst(before));
  to.figure('longest stall of an idle server beside it', 'ms', 'less', worst(idleAfter));
  to.figure(`stalls above ${stallMs} ms`, '', 'less', after.filter(({ max }) => max > stallMs).length);
  to.figure(`of these, while the idle server was not late as well`, '', 'less', own.length);
  to.figure('longest of those', 'ms', 'less', worst(own));
  to.goal('longest event-loop stall after the warm-up of code', worst(after), 'at most', stallMs, ' ms');
  for (const [name, samples] of [
    ['node', node],
    ['idle server', idle],
  ] as const) {
    to.course({ name, chart: 'longest event-loop stall in each second, ms', points: perSecond(samples, startedAt) });
  }
}

function perSecond(samples: readonly LoopSample[], startedAt: number): [number, number][] {
  const worst = new Map<number, number>();
  for (const { at, max } of samples) {
    const s = Math.floor((at - startedAt) / 1000);
    if (s >= 0) worst.set(s, Math.max(worst.get(s) ?? 0, max));
  }
  return [...worst].sort(([a], [b]) => a - b);
}

/** What the log's file takes against what the batches in it take, both as the node left them. */
async function tellFile(dataDir: string, to: Report): Promise<void> {
  let liveBytes = 0;
  for await (const { bytes } of batchesIn(dataDir)) liveBytes += bytes.length;
  const liveMb = to.figure('log, live data', 'MB', 'less', liveBytes / MB);
  const fileMb = to.figure('log, file', 'MB', 'less', logMbOf(dataDir));
  to.goal('file of the log / its live data', fileMb / liveMb, 'at most', 3, '');
}

function tellCourses(samples: readonly Sample[], to: Report): void {
  const course = (chart: string, name: string, value: (sample: Sample) => number) =>
    to.course({ chart, name, points: samples.map((sample) => [sample.s, value(sample)] as const) });
  course('memory, MB', 'resident', ({ residentMb }) => residentMb);
  course('memory, MB', 'resident without files', ({ anonymousMb }) => anonymousMb);
  course('memory, MB', 'heap of the main thread', ({ heapMb }) => heapMb);
  course('files, MB', 'log', ({ logMb }) => logMb);
  course('files, MB', 'snapshots', ({ snapshotsMb }) => snapshotsMb);
  course('events accepted, millions', 'events', ({ events }) => events / 1e6);
  course('load of the machine', 'processes that want a core', ({ machineLoad }) => machineLoad);
}
