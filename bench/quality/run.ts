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
import { addOutputOptions, type Measurement, wholeNumber } from '../measurement.js';
import { buildNode } from '../own-node.js';
import { writeFile, writeJson } from '../result.js';
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

export const quality: Measurement = {
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
  const data = foldersOf(options.data, process.env[dataVariable]);
  const sized = ({ seeds, size: { peers, players } }: typeof usual): Seeds => ({
    seed,
    seeds: options.seeds ?? seeds,
    size: { peers: options.peers ?? peers, players: options.players ?? players },
  });
  const votes: RowOptions = {
    data: data.filter((folder) => !isLifeFolder(folder)),
    kinds: kindNames.filter((kind) => chosen.includes(kind)),
    ...sized(usual),
    injected: options.injected && !http,
    http,
  };
  const lives: LifeRowOptions = {
    data,
    kinds: [...lifeKinds, ...lifeAttemptKinds].filter((kind) => chosen.includes(kind)),
    ...sized(usualOfLife),
  };
  const isLife = lives.kinds.length > 0 && !options.reportsOnly;
  const unused = isLife || options.data === undefined ? undefined : data.find(isLifeFolder);
  if (unused !== undefined) throw new Error(`${unused} has groups of the set ${lifeSet}: add --groups ${lifeSet}`);
  if (votes.kinds.length > 0 && votes.size.peers < peersMin) {
    throw new Error(`--peers: expected at least ${peersMin}, for the colluders of some kinds`);
  }
  if (http || isLife) await buildNode();
  const pairs = options.reportsOnly ? await makeReportsOnlyRows(votes) : [];
  const hasVotes = votes.kinds.length > 0 && !options.reportsOnly;
  const rows = hasVotes ? await makeRows(votes) : pairs.flatMap((pair) => [pair.without, pair.with]);
  const life = isLife ? await makeLifeRows(lives) : [];
  if (rows.length + life.length === 0)
    throw new Error('no group: expected --seeds of at least 1, or data files of these kinds');
  const populations = hasVotes ? judgePopulations(rows, votes) : [];
  const lifePopulations = judgeLifePopulations(life, lives.size);
  if (pairs.length > 0) console.log(printComparison(pairs));
  else if (rows.length > 0) console.log(printTables(rows, populations));
  if (life.length > 0) console.log(printLifeTables(life, lifePopulations));
  const goals = [...populations, ...lifePopulations];
  const { seeds, size } = rows.length > 0 ? votes : lives;
  if (json !== undefined) writeJson(json, { environment: where, seed, seeds, ...size, http, goals, rows, life });
  if (html === undefined) return;
  const read = http || rows.length === 0 ? 'through HTTP' : 'by the computation alone';
  const groups = `Seeds ${seed} to ${seed + seeds - 1}, ${size.peers} peers, ${size.players} players`;
  const title = `${seeds === 0 ? 'Data files' : groups}, read ${read}; commit ${where.commit}, Node ${where.node}, ${where.cpu}.`;
  writeFile(html, qualityPage(title, rows, goals, life));
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
