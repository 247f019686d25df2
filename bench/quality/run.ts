/**
 * The quality bench: measures how right this service's scores and verdicts are, on data sets and under attack, and
 * compares them with the methods of the field. Reads players by the computation alone, or through a node with `--http`.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { environment } from '../environment.js';
import { buildNode } from '../own-node.js';
import { writeFile, writeJson } from '../result-file.js';
import { addOutputOptions, type Scenario, wholeNumber } from '../scenario.js';
import { judgePopulations } from './goals.js';
import { qualityPage } from './page.js';
import { makeReportsOnlyRows, makeRows, type RowOptions } from './rows.js';
import { type KindName, type KindSet, kindNames, kindSets, kindsOf } from './simulator.js';
import { printComparison, printTables } from './tables.js';

interface QualityOptions {
  /** False with `--no-data`. */
  readonly data?: readonly string[] | false;
  readonly groups: readonly KindSet[];
  readonly kinds?: readonly KindName[];
  readonly seed: number;
  readonly seeds: number;
  readonly peers: number;
  readonly players: number;
  readonly injected: boolean;
  readonly http?: true;
  readonly reportsOnly?: true;
  readonly json?: string;
  readonly html?: string;
}

/** Environment variable of the first folder of data sets. The second folder lies beside it. */
const dataVariable = 'PTF_SHARED_DATA';
const secondFolder = 'trust-quality-2';

export const quality: Scenario = {
  name: 'quality',
  summary: 'scores and verdicts on data sets and under attack, beside the methods of the field',
  define(command: Command): void {
    addOutputOptions(command)
      .option('--data <folders...>', `folders of data sets; by default those of ${dataVariable}`)
      .option('--no-data', 'simulated groups only')
      .option('--groups <sets>', `sets of attacks, of ${kindSets.join(',')}`, listOf(kindSets), ['basic', 'new'])
      .option('--kinds <names>', 'attacks by their names, in place of whole sets', listOf(kindNames))
      .option('--seed <n>', 'first seed', wholeNumber(0), 1)
      .option('--seeds <n>', 'groups of each kind', wholeNumber(1), 20)
      .option('--peers <n>', 'peers of a simulated group, before Sybils', wholeNumber(4), 10)
      .option('--players <n>', 'players of a simulated group', wholeNumber(100), 2000)
      .option('--no-injected', 'leave out real votes with injected attackers')
      .option('--http', 'read every player through a node of its own for each group; leaves out injected attackers')
      .option('--reports-only', 'compare report-only groups with the same groups plus session_clean events')
      .action(run);
  },
};

async function run({ peers, players, json, html, ...options }: QualityOptions): Promise<void> {
  const { seed, seeds, http = false } = options;
  const size = { peers, players };
  const where = environment();
  const rowOptions: RowOptions = {
    data: foldersOf(options.data, process.env[dataVariable]),
    kinds: options.kinds ?? kindsOf(options.groups),
    seed,
    seeds,
    size,
    injected: options.injected && !http,
    http,
  };
  if (http) await buildNode();
  const settings = { environment: where, seed, seeds, ...size, http };
  if (options.reportsOnly) {
    const pairs = await makeReportsOnlyRows(rowOptions);
    console.log(printComparison(pairs));
    if (json !== undefined) writeJson(json, { ...settings, pairs });
    const rows = pairs.flatMap((pair) => [pair.without, pair.with]);
    if (html !== undefined) writeFile(html, qualityPage(titleOf(rowOptions, where), rows, []));
    return;
  }
  const rows = await makeRows(rowOptions);
  const goals = judgePopulations(rows);
  console.log(printTables(rows, goals));
  if (json !== undefined) writeJson(json, { ...settings, goals, rows });
  if (html !== undefined) writeFile(html, qualityPage(titleOf(rowOptions, where), rows, goals));
}

function titleOf({ seed, seeds, size, http }: RowOptions, where: ReturnType<typeof environment>): string {
  const read = http ? 'through HTTP' : 'by the computation alone';
  return `Seeds ${seed} to ${seed + seeds - 1}, ${size.peers} peers, ${size.players} players, read ${read}; commit ${where.commit}, Node ${where.node}, ${where.cpu}.`;
}

/** Returns the given folders, or those of the environment; none with `--no-data`. */
export function foldersOf(data: readonly string[] | false | undefined, named: string | undefined): readonly string[] {
  if (data === false) return [];
  if (data !== undefined) return data;
  if (named === undefined || named === '') return [];
  const second = join(dirname(named), secondFolder);
  return existsSync(second) ? [named, second] : [named];
}

function listOf<T extends string>(known: readonly T[]): (names: string) => T[] {
  return (names) =>
    names.split(',').map((name) => {
      const found = known.find((one) => one === name);
      if (found === undefined)
        throw new InvalidArgumentError(`expected names out of ${known.join(', ')}; got ${name}.`);
      return found;
    });
}
