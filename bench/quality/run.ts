/**
 * The quality bench: measures how right this service's scores and verdicts are, on data sets and under attack, and
 * compares them with the methods of the field. Reads players by the computation alone, or through a node: with
 * `--http`, and always in groups that report, detect, ban and lift.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { isLifeFolder } from '../data/life-set.js';
import { environment } from '../machine.js';
import { buildNode } from '../own-node.js';
import { writeFile, writeJson } from '../result.js';
import { addOutputOptions, type Scenario, wholeNumber } from '../scenario.js';
import { judgePopulations } from './goals.js';
import { type LifeRowOptions, makeLifeRows } from './life/rows.js';
import { type LifeKind, lifeAttemptKinds, lifeKinds, lifeSize } from './life/simulator.js';
import { judgeLifePopulations } from './life/summary.js';
import { printLifeTables } from './life/tables.js';
import { qualityPage } from './page.js';
import { makeReportsOnlyRows, makeRows, type RowOptions, type Seeds } from './rows.js';
import { type KindName, type KindSet, kindNames, kindSets, kindsOf } from './simulator.js';
import { printComparison, printTables } from './tables.js';

interface QualityOptions {
  /** False with `--no-data`. */
  readonly data?: readonly string[] | false;
  readonly groups: readonly (KindSet | typeof lifeSet)[];
  readonly kinds?: readonly (KindName | LifeKind)[];
  readonly seed: number;
  readonly seeds?: number;
  readonly peers?: number;
  readonly players?: number;
  readonly injected: boolean;
  readonly http?: true;
  readonly reportsOnly?: true;
  readonly json?: string;
  readonly html?: string;
}

/** Environment variable of the first folder of data sets. The other folders lie beside it. */
const dataVariable = 'PTF_SHARED_DATA';
const otherFolders = ['trust-quality-2', 'trust-quality-3'];

/** The set of all kinds of groups that report, detect, ban and lift. */
const lifeSet = 'life';

const peersMin = 4;
const usual = { seeds: 20, size: { peers: 10, players: 2000 } };
const usualOfLife = { seeds: 1, size: lifeSize };

export const quality: Scenario = {
  name: 'quality',
  summary: 'scores and verdicts on data sets and under attack, beside the methods of the field',
  define(command: Command): void {
    addOutputOptions(command)
      .option('--data <folders...>', `folders of data sets; by default those of ${dataVariable}`)
      .option('--no-data', 'simulated groups only')
      .option(
        '--groups <sets>',
        `sets of attacks, of ${[...kindSets, lifeSet].join(',')}; every group of ${lifeSet} is read through a node`,
        listOf([...kindSets, lifeSet]),
        ['basic', 'new'],
      )
      .option(
        '--kinds <names>',
        'attacks by their names, in place of whole sets',
        listOf([...kindNames, ...lifeKinds, ...lifeAttemptKinds]),
      )
      .option('--seed <n>', 'first seed', wholeNumber(0), 1)
      .option('--seeds <n>', 'groups of each kind, 0 for data files alone (20; life 1)', wholeNumber(0))
      .option(
        '--peers <n>',
        'peers of a simulated group, before Sybils or adversaries of life (10; life 8)',
        wholeNumber(3),
      )
      .option('--players <n>', 'players of a simulated group (2000; life 4000)', wholeNumber(100))
      .option('--no-injected', 'leave out real votes with injected attackers')
      .option('--http', 'read every player through a node of its own for each group; leaves out injected attackers')
      .option('--reports-only', 'compare report-only groups with the same groups plus session_clean events')
      .action(run);
  },
};

async function run({ json, html, ...options }: QualityOptions): Promise<void> {
  const { seed, http = false } = options;
  const where = environment();
  const chosen = options.kinds ?? [...kindsOf(options.groups), ...(options.groups.includes(lifeSet) ? lifeKinds : [])];
  const given = foldersOf(options.data, process.env[dataVariable]);
  const rowOptions: RowOptions = {
    data: given.filter((folder) => !isLifeFolder(folder)),
    kinds: kindNames.filter((kind) => chosen.includes(kind)),
    ...sizeOf(options, usual),
    seed,
    injected: options.injected && !http,
    http,
  };
  if (options.reportsOnly) {
    if (http) await buildNode();
    const pairs = await makeReportsOnlyRows(rowOptions);
    console.log(printComparison(pairs));
    if (json !== undefined) writeJson(json, { environment: where, ...settingsOf(rowOptions), http, pairs });
    const rows = pairs.flatMap((pair) => [pair.without, pair.with]);
    if (html !== undefined) writeFile(html, qualityPage(titleOf(rowOptions, where), rows, []));
    return;
  }
  const lifeOptions: LifeRowOptions = {
    data: given,
    kinds: [...lifeKinds, ...lifeAttemptKinds].filter((kind) => chosen.includes(kind)),
    ...sizeOf(options, usualOfLife),
    seed,
  };
  const isLife = lifeOptions.kinds.length > 0;
  const unused = isLife || options.data === undefined ? undefined : given.find(isLifeFolder);
  if (unused !== undefined) throw new Error(`${unused} has groups of the set ${lifeSet}: add --groups ${lifeSet}`);
  if (rowOptions.kinds.length > 0 && rowOptions.size.peers < peersMin) {
    throw new Error(`--peers: expected at least ${peersMin}, for the colluders of some kinds`);
  }
  if (http || isLife) await buildNode();
  const rows = rowOptions.kinds.length > 0 ? await makeRows(rowOptions) : [];
  const life = isLife ? await makeLifeRows(lifeOptions) : [];
  if (rows.length + life.length === 0)
    throw new Error('no group: expected --seeds of at least 1, or data files of these kinds');
  const populations = judgePopulations(rows, rowOptions);
  const lifePopulations = judgeLifePopulations(life, lifeOptions.size);
  if (rows.length > 0) console.log(printTables(rows, populations));
  if (life.length > 0) console.log(printLifeTables(life, lifePopulations));
  const goals = [...populations, ...lifePopulations];
  const settings = rows.length > 0 ? settingsOf(rowOptions) : settingsOf(lifeOptions);
  if (json !== undefined) writeJson(json, { environment: where, ...settings, http, goals, rows, life });
  const title = titleOf(rows.length > 0 ? rowOptions : { ...lifeOptions, http: true }, where);
  if (html !== undefined) writeFile(html, qualityPage(title, rows, goals, life));
}

function sizeOf(given: Pick<QualityOptions, 'seeds' | 'peers' | 'players'>, { seeds, size }: typeof usual) {
  return {
    seeds: given.seeds ?? seeds,
    size: { peers: given.peers ?? size.peers, players: given.players ?? size.players },
  };
}

function settingsOf({ seed, seeds, size }: Seeds) {
  return { seed, seeds, ...size };
}

function titleOf(
  { seed, seeds, size, http }: Seeds & { http: boolean },
  where: ReturnType<typeof environment>,
): string {
  const read = http ? 'through HTTP' : 'by the computation alone';
  const simulated =
    seeds === 0 ? 'Data files' : `Seeds ${seed} to ${seed + seeds - 1}, ${size.peers} peers, ${size.players} players`;
  return `${simulated}, read ${read}; commit ${where.commit}, Node ${where.node}, ${where.cpu}.`;
}

/** Returns the given folders, or those of the environment; none with `--no-data`. */
export function foldersOf(data: readonly string[] | false | undefined, named: string | undefined): readonly string[] {
  if (data === false) return [];
  if (data !== undefined) return data;
  if (named === undefined || named === '') return [];
  const others = otherFolders.map((folder) => join(dirname(named), folder));
  return [named, ...others.filter((folder) => existsSync(folder))];
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
