/**
 * One run of a measurement of speed: its options, its report and its servers. Each has the same shape:
 * a name, a summary, a default load, and `measure`, which gets this object. The run stops every server at its end.
 */
import type { Command } from 'commander';
import type { Population } from './core/population.js';
import type { Kind } from './load/drive.js';
import { only } from './load/requests.js';
import { leaveUnpinned, pinLoad } from './machine.js';
import {
  addOutputOptions,
  connectionCount,
  folderToWrite,
  type Measurement,
  peerCount,
  positive,
  requestRate,
  seedMeans,
  wholeNumber,
} from './measurement.js';
import { copyOf, type FilledOptions, filledNode, type RunningNode, startNode } from './node-target.js';
import { buildNode } from './own-node.js';
import { type OutputOptions, Report, writeResult } from './report.js';
import { profileInto } from './server-process.js';
import { ratios } from './statistics.js';
import type { Target } from './target.js';
import {
  alternate,
  awaitLoopSamples,
  type Cues,
  driveWindow,
  type Measured,
  type MeasuredEach,
  measuredOf,
  rates,
  report,
  type Series,
  type Window,
  warmUpSecondsMax,
} from './windows.js';

export interface LoadOptions extends Population {
  /** Seconds of load for each series, all windows together. */
  readonly seconds: number;
  /** Null: the measurement's default. */
  readonly connections: number | null;
  /** Requests a second. Null: the measurement's default. */
  readonly rate: number | null;
}

export interface SpeedMeasurement {
  readonly name: string;
  readonly summary: string;
  readonly players: number;
  /** Default 20. */
  readonly peers?: number;
  /** Default 10. */
  readonly seconds?: number;
  /** A long measurement takes `--minutes` instead of `--seconds`, with this default. */
  readonly minutes?: number;
  /** Lets server and load run on any core. */
  readonly unpinned?: true;
  /** Measures. A rejection, or a fault in the report, fails the run. */
  measure(run: Run): Promise<void>;
}

/** A series without name and target, which `compare` adds for each target. */
type Load = Omit<Series, 'name' | 'target'>;

interface Stoppable {
  stop(): Promise<void>;
}

export class Run {
  readonly startedMs = performance.now();
  readonly #stoppables: Stoppable[] = [];

  constructor(
    readonly options: LoadOptions,
    readonly report: Report,
  ) {}

  /** Registers a server to be stopped at the end of the run. */
  use<T extends Stoppable>(server: T): T {
    this.#stoppables.push(server);
    return server;
  }

  /** Starts a node over a folder that is filled with the population of the options. */
  async node(given: Partial<FilledOptions> = {}, name = 'node'): Promise<RunningNode> {
    const running = await startNode(name, await filledNode({ ...this.options, snapshotAfter: 1, ...given }));
    this.use(running.target);
    return running;
  }

  /** Starts the node with its default settings, and a node over the same data that answers all requests through Koa. */
  async bothWays(): Promise<[node: RunningNode, allKoa: RunningNode]> {
    return this.twoNodes('node', 'node, all Koa', { FAST_PATH: 'false' });
  }

  /** Starts a node with its default settings, and another one over the same data with other settings. */
  async twoNodes(
    name: string,
    otherName: string,
    environment: Readonly<Record<string, string>>,
  ): Promise<[RunningNode, RunningNode]> {
    const filled = await filledNode({ ...this.options, snapshotAfter: 1 });
    const copied = copyOf(filled, environment);
    const node = await startNode(name, filled);
    this.use(node.target);
    const other = await startNode(otherName, copied);
    this.use(other.target);
    return [node, other];
  }

  /** Returns a load of one kind. The connections of the options replace `connections`. */
  load(kind: Kind, connections: number, rate = this.options.rate): Load {
    return { workload: only(kind), connections: this.options.connections ?? connections, rate };
  }

  /** Measures the same load on each target, in windows that alternate. The figures are named `what, target`. */
  compare<T extends readonly Target[]>(what: string, targets: readonly [...T], load: Load): Promise<MeasuredEach<T>> {
    const series = targets.map((target) => ({ ...load, name: `${what}, ${target.name}`, target }));
    return this.alternate(what, series) as Promise<MeasuredEach<T>>;
  }

  /** Measures windows of each series in turn and adds all of them to the report. */
  async alternate<T extends readonly Series[]>(what: string, series: readonly [...T]): Promise<MeasuredEach<T>> {
    const found = await alternate<T>(what, series, this.options.seconds, this.startedMs);
    for (const one of found) report(this.report, one);
    return found;
  }

  /** Drives one window, which is not added to the report. */
  drive(series: Series, seconds: number, cues?: Cues): Promise<Window> {
    return driveWindow(series, seconds, this.startedMs, undefined, cues);
  }

  /** Drives one window after a warm-up, and adds it to the report. */
  async window(series: Series, seconds = this.options.seconds, warmUpSMax = warmUpSecondsMax): Promise<Window> {
    if (warmUpSMax > 0) await this.drive(series, Math.min(warmUpSMax, seconds));
    const window = await this.drive(series, seconds);
    await awaitLoopSamples(series.target);
    report(this.report, measuredOf(series, [window]));
    return window;
  }

  /**
   * Measures an open loop at the rate of the options, or at half of `halfLoad`. The rate is a figure and not part of a
   * name, because names must not differ between runs.
   */
  async compareAtHalfLoad<T extends readonly Target[]>(
    what: string,
    targets: readonly [...T],
    halfLoad: number,
    load: Omit<Load, 'rate'>,
  ): Promise<MeasuredEach<T>> {
    const rate = this.options.rate ?? Math.max(1, Math.round(halfLoad / 2));
    const name = `${what} at ${this.options.rate === null ? 'half load' : 'the given rate'}`;
    this.report.figure(`${name}: rate`, 'req/s', 'more', rate);
    return this.compare(name, targets, { ...load, rate });
  }

  /**
   * Adds the ratio of two rates, window by window. With `items` the first rate counts scores or events instead of
   * requests.
   */
  rateRatio(figure: string, of: Measured, to: Measured, items = false): number {
    return this.report.figure(figure, 'x', 'more', ratios(rates(of, items), rates(to)));
  }

  /** Stops every server, even if one fails to stop. Rejects with the first failure. */
  async stop(): Promise<void> {
    const outcomes = await Promise.allSettled(this.#stoppables.map((one) => one.stop()));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}

type GivenOptions = Partial<LoadOptions> &
  OutputOptions &
  Pick<LoadOptions, 'players' | 'peers' | 'seed'> & {
    readonly minutes?: number;
    readonly pin?: boolean;
    readonly profile?: string;
  };

/** Returns the measurement as a command, with the options that all speed measurements share. */
export function measured(measurement: SpeedMeasurement): Measurement {
  const { name, summary, players, peers = 20, seconds = 10, minutes, unpinned } = measurement;
  return {
    name,
    summary,
    define(command: Command): void {
      addOutputOptions(command)
        .option('--connections <n>', "replaces the measurement's default", connectionCount)
        .option('--rate <n>', "requests a second of an open loop, replaces the measurement's default", requestRate)
        .option('--players <n>', 'players that have events', wholeNumber(1), players)
        .option('--peers <n>', 'peers that sent them', peerCount, peers)
        .option('--seed <n>', seedMeans, wholeNumber(0), 1)
        .option('--strict', 'fail if a goal is missed or was not measured');
      if (minutes === undefined)
        command.option('--seconds <n>', 'seconds of load for each figure', positive(), seconds);
      else command.option('--minutes <n>', 'minutes of load', positive(), minutes);
      if (!unpinned) {
        command
          .option('--no-pin', 'let server and load run on any core')
          .option('--profile <folder>', 'CPU profiles of the Node servers; they cost a few percent', folderToWrite);
      }
      command.action(async ({ pin = true, profile, json, html, strict, ...given }: GivenOptions) => {
        if (!pin || unpinned) leaveUnpinned();
        if (profile !== undefined) profileInto(profile);
        await buildNode();
        if (!unpinned) pinLoad();
        const lasting = given.seconds ?? given.minutes! * 60;
        const own = { ...given, connections: given.connections ?? null, rate: given.rate ?? null };
        // A profiled server is slower, so its result cannot be compared with an ordinary one.
        const run = new Run(
          { ...own, seconds: lasting },
          new Report(name, { ...own, profile: profile === undefined ? null : true }),
        );
        try {
          await measurement.measure(run);
        } finally {
          await run.stop();
        }
        writeResult(run.report.result(), { json, html, strict });
      });
    },
  };
}
