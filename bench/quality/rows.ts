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
  readonly judgements: readonly Judgement[];
  readonly methods: FiguresByMethod;
}

/** Simulated groups of each kind. */
export interface Seeds {
  readonly seed: number;
  /** 0 for the data files alone. */
  readonly seeds: number;
  readonly size: GroupSize;
}

export interface RowOptions extends Seeds {
  readonly data: readonly string[];
  readonly kinds: readonly KindName[];
  readonly injected: boolean;
  readonly http: boolean;
}

interface Job extends Omit<Row, 'judgements' | 'methods'> {
  readonly groups: Groups<TrustSet>;
}

/** Groups that are made when their turn comes. */
export type Groups<Group> = readonly (() => Group)[];

/** Makes the rows. The same options give the same rows. */
export async function makeRows(options: RowOptions): Promise<Row[]> {
  return judgeJobs([...(await dataJobs(options)), ...simulatedJobs(options)], options.http);
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

async function judgeJobs(jobs: readonly Job[], http: boolean): Promise<Row[]> {
  const judged = await judgeGroups<TrustSet, Job, Judgement>(jobs, (set, { kind }) =>
    judge(set, { http, damage: kind !== null && kinds[kind].set === 'attempts' }),
  );
  return judged.map((row) => ({ ...row, methods: meanFigures(row.judgements.map(({ methods }) => methods)) }));
}

/**
 * Judges the groups of each job; leaves out a job without groups. Turns the event loop between groups, so that a signal
 * is handled soon.
 */
export async function judgeGroups<Group, Job extends { readonly groups: Groups<Group> }, Judged>(
  jobs: readonly Job[],
  judgeOne: (group: Group, job: Job) => Promise<Judged>,
): Promise<(Omit<Job, 'groups'> & { readonly judgements: readonly Judged[] })[]> {
  const total = jobs.reduce((sum, { groups }) => sum + groups.length, 0);
  const progress = startProgress('judging groups', total);
  const rows = [];
  for (const job of jobs.filter(({ groups }) => groups.length > 0)) {
    const { groups, ...named } = job;
    const judgements: Judged[] = [];
    for (const make of groups) {
      const group = make();
      await oneTurn();
      judgements.push(await judgeOne(group, job));
      progress.advance(1);
      await oneTurn();
    }
    rows.push({ ...named, judgements });
  }
  progress.stop();
  return rows;
}

export function groupsOf<Group>({ seed, seeds }: Seeds, make: (seed: number) => Group): Groups<Group> {
  return Array.from({ length: seeds }, (_, i) => () => make(seed + i));
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
      groups: groupsOf(options, (seed) => inject(set, kind, seed)),
    }));
}

function simulatedJobs(options: RowOptions): Job[] {
  return options.kinds.map((kind) => ({
    origin: 'simulated',
    name: kind,
    family: isReportOnly(kind) ? 'report-only' : 'both-sided',
    kind,
    groups: groupsOf(options, (seed) => simulate(kind, seed, options.size)),
  }));
}
