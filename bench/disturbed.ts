/** What readers feel of work in the background: quiet windows, and windows that last as long as the work does. */

import { setTimeout as delay } from 'node:timers/promises';
import { at } from './load/latency.js';
import { only, type Site, scoreKind } from './load/requests.js';
import { startProgress } from './progress.js';
import type { Report } from './report.js';
import type { Target } from './target.js';
import { awaitLoopSamples, driveWindow, measuredOf, report, type Series, type Window } from './windows.js';

export interface DisturbedOptions {
  readonly target: Target;
  readonly site: Site;
  readonly what: string;
  /** Starts the work, and resolves when it is done to how long it took, s. */
  readonly work: () => Promise<number>;
  /** Does the work once before it is measured. */
  readonly rehearse: boolean;
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

const warmUpS = 1;
const longestWorkS = 600;

export async function measureDisturbed(options: DisturbedOptions, to: Report): Promise<Disturbed> {
  const { target, site, what, work, rehearse, rounds, restFactor, quietS, connections, rate } = options;
  const series: Series = { name: `reads, quiet`, target, workload: only(scoreKind(site)), connections, rate };
  const busySeries: Series = { ...series, name: `reads, during ${what}` };
  const startedMs = performance.now();
  const quiet: Window[] = [];
  const busy: Window[] = [];
  const progress = startProgress(what, rounds * 2 + 1);
  if (rehearse) await delay((await work()) * restFactor * 1000);
  await driveWindow(series, Math.min(warmUpS, quietS), startedMs);
  const workS: number[] = [];
  quiet.push(await driveWindow(series, quietS / (rounds + 1), startedMs));
  for (let round = 0; round < rounds; round++) {
    const ended = new AbortController();
    const driving = driveWindow(busySeries, longestWorkS, startedMs, undefined, ended.signal);
    try {
      workS.push(await work());
    } finally {
      ended.abort();
    }
    busy.push(await driving);
    progress.advance(1);
    const restS = Math.max(quietS / (rounds + 1), restFactor * workS.at(-1)!);
    quiet.push(await driveWindow(series, restS, startedMs));
    progress.advance(1);
  }
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
