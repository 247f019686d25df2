/**
 * Makes the rows of the quality tables: every data set, every kind of simulated attack, and real votes with injected
 * attackers.
 */
import { setImmediate as oneTurn } from 'node:timers/promises';
import { listTrustSets, loadTrustSet, type TrustSet } from '../data/trust-set.js';
import { startProgress } from '../progress.js';
import { type Judgement, judge } from './judgement.js';
import { type FiguresByMethod, meanFigures } from './methods.js';
import type { GroupSize } from './scene.js';
import { inject, injectedKinds, isReportOnly, type KindName, kindNames, kinds, simulate } from './simulator.js';

export type RowOrigin = 'real' | 'attack file' | 'simulated' | 'injected';

/** Groups whose figures are summed up together: real votes, groups that report and praise, groups that only report. */
export type Family = 'real' | 'both-sided' | 'report-only';

export const families: readonly Family[] = ['real', 'both-sided', 'report-only'];

export interface Row {
  readonly origin: RowOrigin;
  readonly name: string;
  readonly family: Family;
  /** The kind of attack; null for real votes, and for a file of an unknown kind. */
  readonly kind: KindName | null;
  /** One judgement for each group. */
  readonly judgements: readonly Judgement[];
  /** The mean over the groups. */
  readonly methods: FiguresByMethod;
}

export interface RowOptions {
  /** Folders of data sets. */
  readonly data: readonly string[];
  readonly kinds: readonly KindName[];
  readonly seed: number;
  readonly seeds: number;
  readonly size: GroupSize;
  readonly injected: boolean;
  /** Whether players are read through a node. */
  readonly http: boolean;
}

interface Job extends Omit<Row, 'judgements' | 'methods'> {
  readonly groups: readonly (() => TrustSet)[];
}

/** Makes the rows. The same options give the same rows. */
export async function makeRows(options: RowOptions): Promise<Row[]> {
  const jobs = [...(await dataJobs(options)), ...simulatedJobs(options)].filter(({ groups }) => groups.length > 0);
  return judgeJobs(jobs, options.http);
}

/**
 * Makes each of the chosen report-only kinds twice: unchanged, and with `session_clean` events of its honest peers.
 * Both rows are judged on the players that some peer reported.
 */
export async function makeReportsOnlyRows(options: RowOptions): Promise<{ without: Row; with: Row }[]> {
  const reporting = simulatedJobs({ ...options, kinds: options.kinds.filter(isReportOnly) });
  const praising = reporting.map((job): Job => {
    const groups = job.groups.map((make, i) => () => {
      const set = simulate(job.kind!, options.seed + i, options.size, { sessionClean: true });
      return { ...set, truth: truthOfPlayersIn(make(), set) };
    });
    return { ...job, name: `${job.name}+session_clean`, groups };
  });
  const rows = await judgeJobs([...reporting, ...praising], options.http);
  return reporting.map((_, i) => ({ without: rows[i]!, with: rows[reporting.length + i]! }));
}

/** Returns the truth of `set` about the players that `reported` contains too. */
function truthOfPlayersIn(reported: TrustSet, set: TrustSet): Map<number, 0 | 1> {
  const names = new Set(reported.players);
  return new Map([...set.truth].filter(([player]) => names.has(set.players[player]!)));
}

/** Judges the groups and turns the event loop between them, so that a signal is handled soon. */
async function judgeJobs(jobs: readonly Job[], http: boolean): Promise<Row[]> {
  const progress = startProgress(
    'judging groups',
    jobs.reduce((sum, { groups }) => sum + groups.length, 0),
  );
  const rows: Row[] = [];
  for (const { groups, ...job } of jobs) {
    const damage = job.kind !== null && kinds[job.kind].set === 'attempts';
    const judgements: Judgement[] = [];
    for (const group of groups) {
      const set = group();
      await oneTurn();
      judgements.push(await judge(set, { http, damage }));
      progress.advance(1);
      await oneTurn();
    }
    rows.push({ ...job, judgements, methods: meanFigures(judgements.map(({ methods }) => methods)) });
  }
  progress.stop();
  return rows;
}

function seedsOf({ seed, seeds }: RowOptions): number[] {
  return Array.from({ length: seeds }, (_, i) => seed + i);
}

async function dataJobs(options: RowOptions): Promise<Job[]> {
  const jobs: Job[] = [];
  for (const folder of options.data) {
    for (const name of listTrustSets(folder)) {
      const set = loadTrustSet(folder, name);
      const attacked = name.startsWith('sim_');
      const kind = kindNames.find((known) => name.replace(/^sim_(.*)_\d+$/, '$1') === known) ?? null;
      jobs.push({
        origin: attacked ? 'attack file' : 'real',
        name,
        family: !attacked ? 'real' : name.startsWith('sim_reportonly') ? 'report-only' : 'both-sided',
        kind: attacked ? kind : null,
        groups: [() => set],
      });
      if (!attacked && options.injected) jobs.push(...injectedJobs(set, options));
      await oneTurn();
    }
  }
  return jobs;
}

function injectedJobs(set: TrustSet, options: RowOptions): Job[] {
  return injectedKinds
    .filter((kind) => options.kinds.includes(kind))
    .map((kind) => ({
      origin: 'injected',
      name: `${set.name}+${kind}`,
      family: 'real',
      kind: null,
      groups: seedsOf(options).map((seed) => () => inject(set, kind, seed)),
    }));
}

function simulatedJobs(options: RowOptions): Job[] {
  return options.kinds.map((kind) => ({
    origin: 'simulated',
    name: kind,
    family: isReportOnly(kind) ? 'report-only' : 'both-sided',
    kind,
    groups: seedsOf(options).map((seed) => () => simulate(kind, seed, options.size)),
  }));
}
