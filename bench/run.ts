/**
 * One run of a scenario that measures speed: its options, its report and the servers that it started. Every such
 * scenario has the same shape: a name, a summary, a default load, and `measure`, which gets this object. The run
 * stops every server at its end.
 */
import type { Command } from 'commander';
import { leaveUnpinned, pinLoad } from './cores.js';
import { copyOf, type FilledOptions, filledNode, type RunningNode, startNode } from './node-target.js';
import { buildNode } from './own-node.js';
import { type OutputOptions, Report, writeResult } from './report.js';
import {
  addOutputOptions,
  connectionCount,
  folderToWrite,
  peerCount,
  positive,
  requestRate,
  type Scenario,
  seedMeans,
  wholeNumber,
} from './scenario.js';
import { profileInto } from './server-process.js';
import { ratios } from './statistics.js';
import type { Target } from './target.js';
import { alternate, type Measured, rates, report, type Series, type TellOptions } from './windows.js';

export interface LoadOptions {
  /** Seconds of load for each series, all of its windows together. */
  readonly seconds: number;
  /** Null: the scenario's own number. */
  readonly connections: number | null;
  /** Requests a second; null: the scenario's own rate. */
  readonly rate: number | null;
  readonly players: number;
  readonly peers: number;
  readonly seed: number;
}

export interface SpeedScenario {
  readonly name: string;
  readonly summary: string;
  readonly players: number;
  /** 20 where absent. */
  readonly peers?: number;
  /** 10 where absent. */
  readonly seconds?: number;
  /** A long scenario takes `--minutes` in place of `--seconds`, and by default so many. */
  readonly minutes?: number;
  /** Server and load run on any core. */
  readonly unpinned?: true;
  /** A rejection, or a fault in the report, fails the run. */
  measure(run: Run): Promise<void>;
}

/** A series but for its name and its target, which `compare` fills in for each target. */
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

  /** A running node over a folder that is filled with the population of the options. */
  async node(given: Partial<FilledOptions> = {}, name = 'node'): Promise<RunningNode> {
    const running = await startNode(name, await filledNode({ ...this.options, snapshotAfter: 1, ...given }));
    this.use(running.target);
    return running;
  }

  /** The node as it runs by default, and a node over the same data whose requests all go through Koa. */
  async bothWays(): Promise<[node: RunningNode, allKoa: RunningNode]> {
    const filled = await filledNode({ ...this.options, snapshotAfter: 1 });
    const withoutFastPath = copyOf(filled, { FAST_LANE: 'false' });
    const node = await startNode('node', filled);
    this.use(node.target);
    const allKoa = await startNode('node, all Koa', withoutFastPath);
    this.use(allKoa.target);
    return [node, allKoa];
  }

  /** The same load on each target, in windows that alternate; the figures are named `what, target`. */
  compare(what: string, targets: readonly Target[], load: Load): Promise<Measured[]> {
    return this.alternate(
      what,
      targets.map((target) => ({ ...load, name: `${what}, ${target.name}`, target })),
    );
  }

  /** Windows of each series in turn; all of them go into the report. */
  async alternate(
    what: string,
    series: readonly Series[],
    tell: (one: Measured) => TellOptions = () => ({}),
  ): Promise<Measured[]> {
    const found = await alternate(what, series, this.options.seconds, this.startedMs);
    for (const one of found) report(this.report, one, tell(one));
    return found;
  }

  /**
   * An open loop at the rate of the options, or at `halfLoad`. The rate is a figure, since names must not differ
   * between runs.
   */
  async compareAtHalfLoad(what: string, targets: readonly Target[], halfLoad: number, load: Omit<Load, 'rate'>) {
    const rate = this.options.rate ?? Math.max(1, Math.round(halfLoad / 2));
    const name = `${what} at ${this.options.rate === null ? 'half load' : 'the given rate'}`;
    this.report.figure(`${name}: rate`, 'req/s', 'more', rate);
    return this.compare(name, targets, { ...load, rate });
  }

  /** The ratio of two rates, window by window. `items`: scores or events of the first one in place of its requests. */
  rateRatio(figure: string, of: Measured, to: Measured, items = false): number {
    return this.report.figure(figure, 'x', 'more', ratios(rates(of, items), rates(to)));
  }

  /** Stops every server, also where one fails to stop; the first failure is the error. */
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

/** The scenario as a command, with the options that all speed scenarios share. */
export function measured(scenario: SpeedScenario): Scenario {
  const { name, summary, players, peers = 20, seconds = 10, minutes, unpinned } = scenario;
  return {
    name,
    summary,
    define(command: Command): void {
      addOutputOptions(command)
        .option('--connections <n>', "in place of the scenario's own number", connectionCount)
        .option('--rate <n>', "requests a second of an open loop, in place of the scenario's own", requestRate)
        .option('--players <n>', 'players that have events', wholeNumber(1), players)
        .option('--peers <n>', 'peers that sent them', peerCount, peers)
        .option('--seed <n>', seedMeans, wholeNumber(0), 1)
        .option('--strict', 'fail where a goal is missed or was not measured');
      if (minutes === undefined) command.option('--seconds <n>', 'of load for each figure', positive, seconds);
      else command.option('--minutes <n>', 'how long', positive, minutes);
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
        // A profiled server is slower: its result does not compare with that of a plain one.
        const run = new Run(
          { ...own, seconds: lasting },
          new Report(name, { ...own, profile: profile === undefined ? null : true }),
        );
        try {
          await scenario.measure(run);
        } finally {
          await run.stop();
        }
        writeResult(run.report.result(), { json, html, strict });
      });
    },
  };
}
