/** A scenario that measures speed: its common options, its report, and where the report goes. */
import type { Command } from 'commander';
import { leaveUnpinned, pinLoad } from './cores.js';
import { buildNode } from './own-node.js';
import { addTellOptions, Report, type TellOptions, tell } from './report.js';
import {
  connectionCount,
  folderToWrite,
  peerCount,
  positive,
  refuseOneFileForBoth,
  requestRate,
  type Scenario,
  seedMeans,
  wholeNumber,
} from './scenario.js';
import { profileInto } from './server-process.js';

export interface LoadOptions {
  /** Seconds of load for each series, all of its windows together. */
  readonly seconds: number;
  /** Null: the scenario's own. */
  readonly connections: number | null;
  /** Requests a second; null: the scenario's own. */
  readonly rate: number | null;
  readonly players: number;
  readonly peers: number;
  readonly seed: number;
}

interface GivenOptions extends Partial<LoadOptions>, TellOptions {
  readonly seconds: number;
  readonly players: number;
  readonly peers: number;
  readonly seed: number;
  readonly pin: boolean;
  readonly profile?: string;
}

export interface Defaults {
  readonly players: number;
  readonly peers?: number;
  readonly seconds?: number;
}

/**
 * What an open loop's figures are called. The rate follows from what was measured before it, so it stands beside them as a figure:
 * in a name it would keep the same figures of two runs apart.
 */
export function openLoopName(what: string, { rate }: Pick<LoadOptions, 'rate'>): string {
  return `${what} at ${rate === null ? 'half load' : 'the given rate'}`;
}

/** `measure` puts what it finds into the report; a rejection or a fault in the report fails the run. */
export function measured(
  name: string,
  summary: string,
  defaults: Defaults,
  measure: (options: LoadOptions, report: Report) => Promise<void>,
): Scenario {
  return {
    name,
    summary,
    define(command: Command): void {
      refuseOneFileForBoth(addTellOptions(command))
        .option('--seconds <n>', 'of load for each figure', positive, defaults.seconds ?? 10)
        .option('--connections <n>', "in place of the scenario's own number", connectionCount)
        .option('--rate <n>', "requests a second of an open loop, in place of the scenario's own", requestRate)
        .option('--players <n>', 'players that have events', wholeNumber(1), defaults.players)
        .option('--peers <n>', 'peers that sent them', peerCount, defaults.peers ?? 20)
        .option('--seed <n>', seedMeans, wholeNumber(0), 1)
        .option('--no-pin', 'let server and load run on any core')
        .option(
          '--profile <folder>',
          'CPU profiles of the Node servers; they slow them by a few percent',
          folderToWrite,
        )
        .action(async ({ pin, profile, json, html, strict, ...given }: GivenOptions) => {
          if (!pin) leaveUnpinned();
          if (profile !== undefined) profileInto(profile);
          await buildNode();
          pinLoad();
          const options: LoadOptions = { ...given, connections: given.connections ?? null, rate: given.rate ?? null };
          // A server that is profiled is slower: its result does not compare with that of a plain one.
          const report = new Report(name, { ...options, profile: profile === undefined ? null : true });
          await measure(options, report);
          tell(report.result(), { json, html, strict });
        });
    },
  };
}
