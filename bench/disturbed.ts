/** Measures how background work affects readers: quiet windows against windows that last as long as the work. */
import { Connection } from './load/connection.js';
import { connectionsTo } from './load/drive.js';
import { at } from './load/latency.js';
import { eventKind, only, type Site, scoreKind } from './load/requests.js';
import type { RunningNode } from './node-target.js';
import type { OwnNode } from './own-node.js';
import { startProgress } from './progress.js';
import type { Run } from './run.js';
import {
  awaitLoopSamples,
  driveWindow,
  measuredOf,
  report,
  type Series,
  type Window,
  warmUpSecondsMax,
} from './windows.js';

export interface Disturbance {
  readonly what: string;
  /**
   * Starts the work. Resolves when the work is done, with a function that returns its duration in seconds. That
   * function is called after the window.
   */
  readonly work: () => Promise<() => Promise<number>>;
  /** Runs of the work under load before the measurement. */
  readonly rehearsals: number;
  readonly rounds: number;
  /** Length of the quiet window after each round, as a multiple of the duration of the work. */
  readonly restFactor: number;
}

const longestWorkS = 600;
const connectionsDefault = 32;
const rateDefault = 5_000;

export async function measureDisturbed(run: Run, { target, site }: RunningNode, given: Disturbance) {
  const { what, work, rehearsals, rounds, restFactor } = given;
  const { seconds, rate } = run.options;
  // The readers keep their connections between windows, as game servers do.
  const connections = connectionsTo(target, run.options.connections ?? connectionsDefault);
  run.use({
    async stop() {
      for (const connection of connections) connection.close();
    },
  });
  const load = { target, workload: only(scoreKind(site)), connections, rate: rate ?? rateDefault };
  const series: Series = { ...load, name: 'reads, quiet' };
  const busySeries: Series = { ...load, name: `reads, during ${what}` };
  const all = rehearsals + rounds;
  const progress = startProgress(what, all + 1);
  const quietS = seconds / (rounds + 1);
  // Warm up in a closed loop. At the measured rate both sides would take long to compile their code.
  await driveWindow({ ...series, rate: null }, Math.min(warmUpSecondsMax, seconds), run.startedMs);
  const workS: number[] = [];
  const busy: Window[] = [];
  const quiet = [await driveWindow(series, quietS, run.startedMs)];
  for (let round = 0; round < all; round++) {
    const ended = new AbortController();
    let driving!: Promise<Window>;
    let took!: () => Promise<number>;
    // Send the event that makes the work due just before the window, which does not measure it.
    const nearly = new Promise<void>((beforeBegin) => {
      const cues = { until: ended.signal, beforeBegin };
      driving = driveWindow(busySeries, longestWorkS, run.startedMs, undefined, cues);
    });
    try {
      await Promise.race([nearly, driving]);
      took = await work();
    } finally {
      ended.abort();
    }
    busy.push(await driving);
    workS.push(await took());
    quiet.push(await driveWindow(series, Math.max(quietS, restFactor * workS.at(-1)!), run.startedMs));
    progress.advance(1);
  }
  for (const rehearsed of [workS, busy, quiet]) rehearsed.splice(0, rehearsals);
  await awaitLoopSamples(target);
  progress.stop();
  const [ofQuiet, ofBusy] = [measuredOf(series, quiet), measuredOf(busySeries, busy)];
  report(run.report, ofQuiet);
  report(run.report, ofBusy);
  run.report.figure(what, 's', 'less', workS);
  // If readers wait for a free connection in the quiet windows, the comparison means nothing.
  const wasQuiet = quiet.every(({ driven }) => driven.unsent === 0);
  const ratio = at(ofBusy.latencies.summary(), 99) / at(ofQuiet.latencies.summary(), 99);
  const p99Ratio = run.report.figure(
    `readers' p99, during ${what} / quiet`,
    'x',
    'less',
    wasQuiet ? ratio : Number.NaN,
  );
  return { workS, p99Ratio, worstLoopMs: Math.max(0, ...busy.flatMap(({ loop }) => loop.map(({ max }) => max))) };
}

/**
 * Sends `count` events, each after the answer to the one before. A batch would occupy the node's thread and delay the
 * readers.
 */
export function sendEvents(node: OwnNode, site: Site, first: number, count: number): Promise<void> {
  const kind = eventKind(site);
  return new Promise((resolve, reject) => {
    const connection = new Connection('127.0.0.1', node.port);
    let sent = 0;
    const next = () => connection.send(kind.request(first + sent++, 0));
    connection.onAnswer = (_, status) => {
      if (status === 201 && sent < count) return next();
      connection.close();
      if (status === 201) resolve();
      else reject(new Error(`expected an event to be answered with 201, got ${status}`));
    };
    next();
  });
}
