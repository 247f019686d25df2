/**
 * Windows of load: one drive of one target, with the resources that its processes used. Series of windows alternate
 * between targets, so that a machine that slows down slows all of them.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { noAnswer } from './load/connection.js';
import { type Driven, type DriveOptions, drive, type KindOutcome, type Workload } from './load/drive.js';
import { Latencies } from './load/latency.js';
import { loadHasCore } from './machine.js';
import { cpuSOf, residentMbOf } from './process-stats.js';
import { type Progress, startProgress } from './progress.js';
import type { Report } from './report.js';
import { median } from './statistics.js';
import { type LoopSample, loopSampleMs, type Target } from './target.js';

export interface Series {
  readonly name: string;
  readonly target: Target;
  readonly workload: Workload;
  readonly connections: DriveOptions['connections'];
  /** Requests a second; null for a closed loop. */
  readonly rate: number | null;
  /** Whether unexpected answers are only noted and do not fail the run, for servers of other projects. */
  readonly tolerant?: boolean;
  /** Unit of the items of one request with several items, such as `scores/s`. */
  readonly itemUnit?: string;
}

/** The results of a list of series, in the order of the list. */
export type MeasuredEach<T extends readonly unknown[]> = { [K in keyof T]: Measured };

export interface Window {
  /** Seconds into the run. */
  readonly startS: number;
  readonly seconds: number;
  readonly driven: Driven;
  /** Processor time of the server for one answer of any status, late ones included, us; NaN without an answer. */
  readonly cpuUs: number;
  /** Share of one core. */
  readonly cpuShare: number;
  readonly residentMb: number;
  /** The server's samples within this window. The last ones arrive shortly after the end (`awaitLoopSamples`). */
  readonly loop: readonly LoopSample[];
  /** `[s into the run, answers a second]`. */
  readonly course: readonly (readonly [s: number, rate: number])[];
}

/** Ends a window early, and marks the time just before its begin. */
export type Cues = Pick<DriveOptions, 'until' | 'beforeBegin'>;

export interface Measured {
  readonly series: Series;
  readonly windows: readonly Window[];
  /** Sum over all windows and kinds. */
  readonly latencies: Latencies;
}

/** The most windows of each series. More windows show noise better; longer windows have steadier tails. */
const roundsMax = 5;
/** Shorter windows measure their own start: processor time comes in ticks of 10 ms, and a slow server answers late. */
const windowSecondsMin = 0.4;
/**
 * A new server needs this time under load to compile its code: the node's first 300,000 events take up to half as long
 * again.
 */
export const warmUpSecondsMax = 6;
/** Load before each window, because a server takes some ten ms to accept hundreds of connections. */
const leadMs = 100;
/** Longest wait for the last sample of an event loop. */
const loopSampleWaitMs = 10_000;

/** Share of a core below which a server waited for the disk, for other processes of the machine, or for the load. */
const saturatedShare = 0.85;

/** The number of the next request to each server, so that no request is sent twice. */
const nextRequest = new WeakMap<Target, number>();
/** Events that a target acknowledged, warm-ups and late answers included. */
const acknowledgedEvents = new WeakMap<Target, number>();

/** Measures each series for `seconds`, in up to five windows that alternate, in addition to the warm-up. */
export async function alternate<T extends readonly Series[]>(
  what: string,
  series: readonly [...T],
  seconds: number,
  startedMs = performance.now(),
): Promise<MeasuredEach<T>> {
  const rounds = Math.max(1, Math.min(roundsMax, Math.floor(seconds / windowSecondsMin)));
  const warmUpS = Math.min(warmUpSecondsMax, seconds);
  const progress = startProgress(what, Math.ceil(series.length * (seconds + warmUpS) * 10));
  try {
    for (const one of series) await driveWindow(one, warmUpS, startedMs, progress);
    const windows: Window[][] = series.map(() => []);
    for (let round = 0; round < rounds; round++) {
      const inTurn = [...series.entries()];
      // Reverse every second round, so that no series always follows the same other one.
      if (round % 2 === 1) inTurn.reverse();
      for (const [i, one] of inTurn) {
        windows[i]!.push(await driveWindow(one, seconds / rounds, startedMs, progress));
      }
    }
    await awaitLoopSamples(...series.map(({ target }) => target));
    return series.map((one, i) => measuredOf(one, windows[i]!)) as MeasuredEach<T>;
  } finally {
    progress.stop();
  }
}

export async function driveWindow(
  { target, workload, connections, rate }: Series,
  seconds: number,
  startedMs: number,
  progress?: Progress,
  { until, beforeBegin = () => undefined }: Cues = {},
): Promise<Window> {
  const first = nextRequest.get(target) ?? 0;
  const course: [number, number][] = [];
  let offsetS = 0;
  let lastS = 0;
  let lastAnswers = 0;
  let [cpuSBefore, begunMs, beginMs, endMs] = [0, 0, 0, 0];
  const { host, port } = target;
  const load = { host, port, connections, seconds, rate, workload, first, leadMs };
  const driven = await drive({
    ...load,
    staysAwake: loadHasCore(),
    until,
    beforeBegin() {
      // The first collections of a window would copy its new objects, which matters more in a short window.
      promoteYoung();
      cpuSBefore = cpuSOf(target.pids);
      begunMs = performance.now();
      beforeBegin();
    },
    onBegin() {
      beginMs = Date.now();
      offsetS = (performance.now() - startedMs) / 1000;
    },
    // Reading the processor time blocks briefly, and answers in that time would be noticed late. So it is read after
    // all answers.
    onOver() {
      endMs = Date.now();
    },
    onTick(secondsIn, answers) {
      course.push([offsetS + secondsIn, (answers - lastAnswers) / (secondsIn - lastS)]);
      progress?.advance(Math.round((secondsIn - lastS) * 10));
      lastS = secondsIn;
      lastAnswers = answers;
    },
  });
  // Both this time and the number of answers below include late answers.
  const cpuS = cpuSOf(target.pids) - cpuSBefore;
  const lastedS = (performance.now() - begunMs) / 1000;
  const came = allAnswersOf(driven) - driven.early;
  nextRequest.set(target, first + driven.sent);
  acknowledgedEvents.set(target, acknowledgedBy(target) + eventsIn(driven, workload));
  return {
    startS: offsetS,
    seconds: driven.seconds,
    driven,
    cpuUs: came === 0 ? Number.NaN : (cpuS * 1e6) / came,
    cpuShare: cpuS / lastedS,
    residentMb: residentMbOf(target.pids),
    get loop() {
      return samplesWithin(target.loopSamples, beginMs, endMs);
    },
    course,
  };
}

/** Returns the samples that overlap this time (ms since 1970). A server reports a stall when it is over. */
export function samplesWithin(samples: readonly LoopSample[], beginMs: number, endMs: number): LoopSample[] {
  return samples.filter(({ at }, i) => at > beginMs && (samples[i - 1]?.at ?? at - loopSampleMs) < endMs);
}

/** Waits until the servers have reported the end of a window, because a stall there belongs to the window. */
export async function awaitLoopSamples(...targets: readonly Target[]): Promise<void> {
  const nowMs = Date.now();
  const giveUpMs = performance.now() + loopSampleWaitMs;
  const isBehind = ({ loopSamples }: Target) => loopSamples.length > 0 && loopSamples.at(-1)!.at < nowMs;
  while (targets.some(isBehind) && performance.now() < giveUpMs) await delay(loopSampleMs / 4);
}

export function acknowledgedBy(target: Target): number {
  return acknowledgedEvents.get(target) ?? 0;
}

function eventsIn({ kinds }: Driven, workload: Workload): number {
  return kinds.reduce((sum, { statuses, items }, i) => {
    if (workload.kinds[i]!.stores !== true) return sum;
    const done = [...statuses].filter(([status]) => status >= 200 && status < 300);
    return sum + done.reduce((answers, [, count]) => answers + count, 0) * items;
  }, 0);
}

/** Returns the number of expected answers within the window. */
export function answersOf({ kinds }: Driven): number {
  return kinds.reduce((sum, { answers }) => sum + answers, 0);
}

/** Returns the number of all answers, late ones included. */
function allAnswersOf({ kinds }: Driven): number {
  const all = kinds.flatMap(({ statuses }) => [...statuses]);
  return all.reduce((sum, [status, count]) => sum + (status === noAnswer ? 0 : count), 0);
}

/** Returns the answers a second of each window; with `items`, the scores or events a second. */
export function rates({ windows }: Measured, items = false): number[] {
  const count = ({ kinds }: Driven) => kinds.reduce((sum, kind) => sum + kind.answers * (items ? kind.items : 1), 0);
  return windows.map(({ driven, seconds }) => count(driven) / seconds);
}

export function measuredOf(series: Series, windows: readonly Window[]): Measured {
  return { series, windows, latencies: latenciesOf(windows) };
}

function latenciesOf(windows: readonly Window[]): Latencies {
  return Latencies.sum(windows.flatMap(({ driven }) => driven.kinds.map(({ latencies }) => latencies)));
}

/** Returns the processor time of an answer in each window, us. */
export function cpuUsOf({ windows }: Measured): number[] {
  return windows.map(({ cpuUs }) => cpuUs);
}

export function p99MsOf(window: Window): number {
  return latenciesOf([window]).ms(99);
}

/** Lists the answers of a series whose status its kind does not expect, such as `503: 12`. */
export function unexpected({ windows, series }: Measured): string {
  const found = new Map<string, number>();
  for (const { driven } of windows) {
    for (const [i, { statuses }] of driven.kinds.entries()) {
      for (const [status, count] of statuses) {
        if (series.workload.kinds[i]!.expects.includes(status)) continue;
        const name = status === 0 ? 'no answer' : String(status);
        found.set(name, (found.get(name) ?? 0) + count);
      }
    }
  }
  return [...found].map(([name, count]) => `${name}: ${count}`).join(', ');
}

/** Adds a series to the report: rate, processor time, memory, event loop, latencies and values over time. */
export function report(to: Report, measured: Measured): void {
  const { series, windows } = measured;
  const { name, itemUnit, tolerant } = series;
  to.figure(name, 'req/s', 'more', rates(measured));
  if (itemUnit !== undefined) to.figure(`${name}: ${itemUnit}`, itemUnit, 'more', rates(measured, true));
  to.figure(`${name}: CPU`, 'us/req', 'less', cpuUsOf(measured));
  to.figure(`${name}: memory`, 'MB', 'less', Math.max(...windows.map(({ residentMb }) => residentMb)));
  const loop = windows.flatMap((window) => window.loop);
  if (loop.length > 0) {
    to.figure(`${name}: event loop late, p99`, 'ms', 'less', median(loop.map(({ p99 }) => p99)));
    to.figure(`${name}: event loop late, worst`, 'ms', 'less', Math.max(...loop.map(({ max }) => max)));
  }
  reportLatencies(to, measured);
  const wrong = unexpected(measured);
  if (wrong !== '') {
    const text = `${name}: unexpected answers: ${wrong}`;
    if (tolerant) to.note(text);
    else to.fault(text);
  }
  const drives = windows.map(({ driven }) => driven);
  if (drives.every((driven) => answersOf(driven) === 0)) {
    // A rate of 0 already shows that the answers were late. A server without any answer does not work.
    if (drives.some((driven) => allAnswersOf(driven) > 0))
      to.note(`${name}: no request was answered within its window`);
    else to.fault(`${name}: no request was answered`);
  }
  const unsent = drives.reduce((sum, driven) => sum + driven.unsent, 0);
  if (unsent > 0) to.note(`${name}: ${unsent} requests were due and found no free connection`);
  const lag = lagNote(name, drives);
  if (lag !== undefined) to.note(lag);
  const share = median(windows.map(({ cpuShare }) => cpuShare));
  if (series.rate === null && share < saturatedShare) {
    to.note(`${name}: the server used ${Math.round(share * 100)} % of a core, so something else was the limit`);
  }
  to.course({ name, chart: 'Throughput, req/s', points: windows.flatMap(({ course }) => [...course, gap]) });
  const late = windows.flatMap(({ loop: samples, startS }) => [
    // Each sample at the window's place in the run.
    ...samples.map(({ at, max }) => [startS + (at - samples[0]!.at) / 1000, max] as const),
    gap,
  ]);
  to.course({ name, chart: 'Event loop late, worst of each 100 ms, ms', points: late });
}

/** Breaks the line of a chart between two windows. */
const gap = [Number.NaN, Number.NaN] as const;

function reportLatencies(to: Report, { series, windows, latencies }: Measured): void {
  to.latencies(series.name, latencies.summary());
  if (series.workload.kinds.length === 1) return;
  for (const [i, { name }] of series.workload.kinds.entries()) {
    const ofKind = Latencies.sum(windows.map(({ driven }) => (driven.kinds[i] as KindOutcome).latencies));
    to.latencies(`${series.name}: ${name}`, ofKind.summary());
  }
}

/** A lag below this share of the latencies does not change their meaning. */
const shareMax = 0.1;
const lagMsMax = 1;

/** Returns the note about a late load generator; undefined if it was in time, or has too few requests. */
export function lagNote(name: string, drives: readonly Pick<Driven, 'kinds' | 'lag'>[]): string | undefined {
  const lag = Latencies.sum(drives.map((drive) => drive.lag));
  const all = Latencies.sum(drives.flatMap(({ kinds }) => kinds.map(({ latencies }) => latencies)));
  const [lagMs, latencyMs] = [lag.ms(99), all.ms(99)];
  if (!(lagMs > lagMsMax && lagMs > latencyMs * shareMax)) return undefined;
  return `${name}: the load generator was late by ${lagMs.toFixed(1)} ms at the 99th percentile, of ${latencyMs.toFixed(1)} ms: these latencies include its delay`;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as NodeJS.GCFunction;

/**
 * Moves all live objects to the old generation; takes a millisecond. The first collection copies the objects, the
 * second promotes them. Otherwise the first two collections of a window would take twice as long as all others.
 */
export function promoteYoung(): void {
  for (let time = 0; time < 2; time++) collect({ type: 'minor' });
}
