/** What readers feel of work in the background: quiet windows, and windows that last as long as the work does. */
import type { Connection } from './load/connection.js';
import { connectionsTo } from './load/drive.js';
import { at } from './load/latency.js';
import { only, type Site, scoreKind } from './load/requests.js';
import { startProgress } from './progress.js';
import type { Report } from './report.js';
import type { Target } from './target.js';
import {
  awaitLoopSamples,
  type Cues,
  driveWindow,
  measuredOf,
  report,
  type Series,
  type Window,
  warmUpSecondsMax,
} from './windows.js';

export interface DisturbedOptions {
  readonly target: Target;
  readonly site: Site;
  readonly what: string;
  /** Starts the work, and resolves when it is done to what says how long it took, s; that is asked once nobody's readers are measured. */
  readonly work: () => Promise<() => Promise<number>>;
  /** How often the work is done, under readers, before it is measured. */
  readonly rehearsals: number;
  /** How often; after each, a quiet window that lasts at least `restFactor` times as long as the work did. */
  readonly rounds: number;
  readonly restFactor: number;
  /** All quiet windows together, at least. */
  readonly quietS: number;
  readonly connections: number;
  readonly rate: number;
}

export interface Disturbed {
  readonly workS: readonly number[];
  /** Of the readers' 99th percentile, with the work and without. */
  readonly p99Ratio: number;
  readonly worstLoopMs: number;
}

const longestWorkS = 600;

export async function measureDisturbed(options: DisturbedOptions, to: Report): Promise<Disturbed> {
  // Kept from window to window, as game servers keep theirs: for each window's own, the server would be compiling how connections come and go all along.
  const connections = connectionsTo(options.target, options.connections);
  try {
    return await measure(options, connections, to);
  } finally {
    for (const connection of connections) connection.close();
  }
}

async function measure(options: DisturbedOptions, connections: readonly Connection[], to: Report): Promise<Disturbed> {
  const { target, site, what, work, rehearsals, rounds, restFactor, quietS, rate } = options;
  const series: Series = { name: `reads, quiet`, target, workload: only(scoreKind(site)), connections, rate };
  const busySeries: Series = { ...series, name: `reads, during ${what}` };
  const startedMs = performance.now();
  const all = rehearsals + rounds;
  const progress = startProgress(what, all * 2 + 1);
  /** Readers while the work is done, or for some seconds of quiet. */
  const drive = async (of: Series, seconds: number, cues?: Cues): Promise<Window> => {
    const window = await driveWindow(of, seconds, startedMs, undefined, cues);
    progress.advance(1);
    return window;
  };
  // As fast as it goes: at the rate that is measured, both sides would compile their code for a long time, and each stop for it.
  await driveWindow({ ...series, rate: null }, Math.min(warmUpSecondsMax, quietS), startedMs);
  const workS: number[] = [];
  const busy: Window[] = [];
  const quiet = [await drive(series, quietS / (rounds + 1))];
  for (let round = 0; round < all; round++) {
    const ended = new AbortController();
    let driving!: Promise<Window>;
    let took!: () => Promise<number>;
    // The event that makes it due, and what is asked of the node at once, come before the window: they are not what is measured.
    const nearly = new Promise<void>((beforeBegin) => {
      driving = drive(busySeries, longestWorkS, { until: ended.signal, beforeBegin });
    });
    try {
      await Promise.race([nearly, driving]);
      took = await work();
    } finally {
      ended.abort();
    }
    busy.push(await driving);
    workS.push(await took());
    quiet.push(await drive(series, Math.max(quietS / (rounds + 1), restFactor * workS.at(-1)!)));
  }
  for (const rehearsed of [workS, busy, quiet]) rehearsed.splice(0, rehearsals);
  await awaitLoopSamples(target);
  progress.stop();
  const [ofQuiet, ofBusy] = [measuredOf(series, quiet), measuredOf(busySeries, busy)];
  report(to, ofQuiet);
  report(to, ofBusy);
  to.figure(what, 's', 'less', workS);
  // Readers that wait for a free connection while nothing is done tell nothing of what the work does to them.
  const wasQuiet = quiet.every(({ driven }) => driven.unsent === 0);
  const ratio = at(ofBusy.latencies.summary(), 99) / at(ofQuiet.latencies.summary(), 99);
  const p99Ratio = wasQuiet ? ratio : Number.NaN;
  to.figure(`readers' p99, during ${what} / quiet`, 'x', 'less', p99Ratio);
  return { workS, p99Ratio, worstLoopMs: Math.max(0, ...busy.flatMap(({ loop }) => loop.map(({ max }) => max))) };
}
