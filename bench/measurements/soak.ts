/**
 * Runs a node under a mixed load for half an hour, with a snapshot every minute, recomputation, erasures and
 * withdrawals, and checks that memory, files and the event loop stay stable. An idle server beside it shows the stalls
 * that the machine itself causes.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../free-ports.js';
import { drive } from '../load/drive.js';
import { batchKind, eventKind, matchKind, mixture, scoreKind } from '../load/requests.js';
import { snapshotsOf } from '../node-target.js';
import { startProgress } from '../progress.js';
import type { Report } from '../report.js';
import { measured } from '../run.js';
import { ServerProcess } from '../server-process.js';
import { removeAlong } from '../soak/removals.js';
import { charts, ownStalls, type Sample, type SampleField, sampleOf, sizeMbOf } from '../soak/samples.js';
import { greatest, median } from '../statistics.js';
import { batchesIn, bytesPerCommit, bytesPerEvent } from '../stored.js';
import type { LoopSample } from '../target.js';
import { lagNote } from '../windows.js';

const rateDefault = 400;
const connectionsDefault = 32;
const sampleEveryMs = 5_000;
/** Share of the run during which memory may still grow. */
const warmUpShare = 1 / 5;
/** Longest time in which late event loops are excused by compilation. No later stall is excused. */
const compilingMs = 30_000;
const stallMs = 50;
const idleServer = fileURLToPath(new URL('../peers/bare-http.js', import.meta.url));

export const soak = measured({
  name: 'soak',
  summary: 'half an hour of everything: memory, files and stalls over time',
  players: 10_000,
  minutes: 30,
  unpinned: true,
  async measure(run) {
    const to = run.report;
    const { seconds } = run.options;
    const rate = run.options.rate ?? rateDefault;
    const metricsPort = await freePort();
    const environment = {
      METRICS_PORT: String(metricsPort),
      ERASURE_QUOTA_PER_DAY: '1000000',
      SNAPSHOT_EVERY: String(Math.ceil(rate * 60)),
      // As in deploy/. Otherwise the C library has a memory pool for each thread, and memory grows in steps.
      MALLOC_ARENA_MAX: '2',
    };
    const idle = new ServerProcess({ script: idleServer, cwd: process.cwd(), env: {} });
    run.use({ stop: () => idle.end('SIGKILL') });
    await idle.start();
    // No later event adds a new pair.
    const { target, node, site, salt } = await run.node({ knownToAll: run.options.players, environment });
    const startedAt = Date.now();
    const samples: Sample[] = [];
    const snapshots = new Set(snapshotsOf(node));
    const ending = new AbortController();
    const progress = startProgress('soak, seconds', Math.ceil(seconds));
    try {
      const sampling = repeatUntil(ending.signal, async () => {
        const s = (Date.now() - startedAt) / 1000;
        samples.push(await sampleOf(s, node.pid!, node.dataDir, `http://127.0.0.1:${metricsPort}/metrics`));
        for (const name of snapshotsOf(node)) snapshots.add(name);
        progress.advance(Math.round(s) - Math.round(samples.at(-2)?.s ?? 0));
      });
      const removing = removeAlong(node.url, site, salt, ending.signal);
      const workload = mixture(
        site.seed,
        [scoreKind(site), 80],
        [matchKind(site), 10],
        [eventKind(site), 9],
        [batchKind(site, 50), 1],
      );
      const connections = run.options.connections ?? connectionsDefault;
      const driving = drive({ host: target.host, port: target.port, connections, seconds, rate, workload, first: 0 });
      // If one of them fails, the others need not run to the end.
      const driven = await Promise.race([driving, failureOf(sampling), failureOf(removing)]);
      ending.abort();
      await sampling;
      for (const kind of driven.kinds) {
        to.latencies(kind.name, kind.latencies.summary());
        const odd = [...kind.statuses].filter(([status]) => status < 200 || status > 299);
        if (odd.length > 0) to.fault(`${kind.name}: ${odd.map(([status, n]) => `${n} answers ${status}`).join(', ')}`);
      }
      const late = lagNote('load', [driven]);
      if (late !== undefined) to.note(late);
      const { erasures, withdrawals, odd, longestMs } = await removing;
      to.figure('erasures', '', 'more', erasures);
      to.figure('withdrawals', '', 'more', withdrawals);
      to.figure('removals: the longest until it was answered', 'ms', 'less', longestMs);
      for (const [what, count] of odd) to.fault(`removals: ${count} times ${what}`);
      to.figure('snapshots made', '', 'more', snapshots.size);
      reportMemory(samples, seconds, to);
      const compilingForMs = Math.min(compilingMs, seconds * 1000 * warmUpShare);
      to.figure('warm-up of memory, in which growth is not judged', 's', 'less', seconds * warmUpShare);
      to.figure('warm-up of code, in which stalls are not judged', 's', 'less', compilingForMs / 1000);
      reportStalls(target.loopSamples, idle.loopSamples, { startedAt, judgedFrom: startedAt + compilingForMs }, to);
      await node.halt();
      await reportFile(node.dataDir, to);
      for (const [field, names] of Object.entries(charts)) {
        to.course({ ...names, points: samples.map((sample) => [sample.s, sample[field as SampleField]] as const) });
      }
    } finally {
      progress.stop();
      ending.abort();
    }
  },
});

/** Rejects if the work fails, and never resolves. */
async function failureOf(work: Promise<unknown>): Promise<never> {
  await work;
  return new Promise(() => undefined);
}

async function repeatUntil(signal: AbortSignal, sample: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await sample();
    await delay(sampleEveryMs, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Reports the growth from the first fifth after the warm-up to the last fifth of the run, less the growth of the state
 * by design.
 */
function reportMemory(samples: readonly Sample[], seconds: number, to: Report): void {
  const goal = 'growth of anonymous memory after the warm-up, beyond what is by design';
  const part = (from: number, until: number) => samples.filter(({ s }) => s >= from * seconds && s < until * seconds);
  const [early, late] = [part(warmUpShare, 2 * warmUpShare), part(1 - warmUpShare, Number.POSITIVE_INFINITY)];
  if (early.length === 0 || late.length === 0) {
    to.note('The run was too short to show growth of memory.');
    to.goal(goal, null, 'at most', 5, ' %');
    return;
  }
  const middle = (of: readonly Sample[], field: SampleField) => median(of.map((sample) => sample[field]));
  const grown = (field: SampleField) => middle(late, field) - middle(early, field);
  const stateMb = (grown('events') * bytesPerEvent + grown('commits') * bytesPerCommit) / 1e6;
  for (const [field, what] of [
    ['residentMb', 'resident memory'],
    ['anonymousMb', 'anonymous memory'],
    ['heapMb', 'heap'],
  ] as const) {
    to.figure(`${what} after the warm-up`, 'MB', 'less', middle(early, field));
    to.figure(`${what} at the end`, 'MB', 'less', middle(late, field));
  }
  to.figure('of the growth, by design for accepted events and turns', 'MB', 'less', stateMb);
  to.goal(goal, ((grown('anonymousMb') - stateMb) / middle(early, 'anonymousMb')) * 100, 'at most', 5, ' %');
}

/**
 * Reports stalls of the node's event loop. Stalls that an idle server has at the same time are caused by the machine.
 */
function reportStalls(
  node: readonly LoopSample[],
  idle: readonly LoopSample[],
  { startedAt, judgedFrom }: { startedAt: number; judgedFrom: number },
  to: Report,
): void {
  const worst = (of: readonly LoopSample[]) => Math.max(0, greatest(of.map(({ max }) => max)));
  const judged = (of: readonly LoopSample[]) => of.filter(({ at }) => at >= judgedFrom);
  const after = judged(node);
  const own = ownStalls(after, idle, stallMs);
  const before = node.filter(({ at }) => at >= startedAt && at < judgedFrom);
  to.figure('longest stall within the warm-up of code', 'ms', 'less', worst(before));
  to.figure('longest stall of an idle server beside it', 'ms', 'less', worst(judged(idle)));
  to.figure(`stalls above ${stallMs} ms`, '', 'less', after.filter(({ max }) => max > stallMs).length);
  to.figure('of these, while the idle server was not late as well', '', 'less', own.length);
  to.figure('longest of those', 'ms', 'less', worst(own));
  to.goal('longest event-loop stall after the warm-up of code', worst(after), 'at most', stallMs, ' ms');
  for (const [name, samples] of Object.entries({ node, 'idle server': idle })) {
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

/** Reports the size of the log's file against the size of its batches, both as the node left them. */
async function reportFile(dataDir: string, to: Report): Promise<void> {
  let liveBytes = 0;
  for await (const { bytes } of batchesIn(dataDir)) liveBytes += bytes.length;
  const liveMb = to.figure('log, live data', 'MB', 'less', liveBytes / 1e6);
  const fileMb = to.figure('log, file', 'MB', 'less', sizeMbOf(`${dataDir}/log`));
  to.goal('file of the log / its live data', fileMb / liveMb, 'at most', 3, '');
}
