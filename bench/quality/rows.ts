/** The rows of the quality table: every data set, every kind of simulated attack, real votes with attackers injected. */
import { setImmediate as oneTurn } from 'node:timers/promises';
import { listTrustSets, loadTrustSet, type TrustSet } from '../data/trust-set.js';
import { startProgress } from '../progress.js';
import { type MeasuresByMethod, meanMeasures, measureAll } from './methods.js';
import type { GroupSize } from './scene.js';
import { inject, injectedKinds, type KindName, kinds, simulate } from './simulator.js';

export type RowOrigin = 'real' | 'attack file' | 'simulated' | 'injected';

export interface Row {
  readonly origin: RowOrigin;
  readonly name: string;
  /** For an injected row: the real set whose votes it attacks. */
  readonly base: string | null;
  readonly reportOnly: boolean;
  /** Groups that the measures are a mean of. */
  readonly groups: number;
  readonly methods: MeasuresByMethod;
}

export interface RowOptions {
  readonly data?: string;
  readonly kinds: readonly KindName[];
  readonly seed: number;
  readonly seeds: number;
  readonly size: GroupSize;
  readonly injected: boolean;
}

interface Job extends Omit<Row, 'groups' | 'methods'> {
  readonly groups: readonly (() => TrustSet)[];
}

/** Same options, same rows. Between groups the event loop has a turn: signals would wait for the last of them otherwise. */
export async function makeRows(options: RowOptions): Promise<Row[]> {
  const jobs = [...(await dataJobs(options)), ...simulatedJobs(options)];
  const progress = startProgress(
    'judging groups',
    jobs.reduce((sum, { groups }) => sum + groups.length, 0),
  );
  const rows: Row[] = [];
  for (const job of jobs) {
    const measured: MeasuresByMethod[] = [];
    for (const group of job.groups) {
      const set = group();
      await oneTurn();
      measured.push(measureAll(set));
      progress.advance(1);
      await oneTurn();
    }
    rows.push({ ...job, groups: measured.length, methods: meanMeasures(measured) });
  }
  progress.stop();
  return rows;
}

function seedsOf({ seed, seeds }: RowOptions): number[] {
  return Array.from({ length: seeds }, (_, i) => seed + i);
}

async function dataJobs(options: RowOptions): Promise<Job[]> {
  const { data } = options;
  if (data === undefined) return [];
  const jobs: Job[] = [];
  for (const name of listTrustSets(data)) {
    const set = loadTrustSet(data, name);
    const attacked = name.startsWith('sim_');
    jobs.push({
      origin: attacked ? 'attack file' : 'real',
      name,
      base: null,
      reportOnly: name.startsWith('sim_reportonly'),
      groups: [() => set],
    });
    if (!attacked && options.injected) jobs.push(...injectedJobs(set, options));
    await oneTurn();
  }
  return jobs;
}

function injectedJobs(set: TrustSet, options: RowOptions): Job[] {
  return injectedKinds
    .filter((kind) => options.kinds.includes(kind))
    .map((kind) => ({
      origin: 'injected',
      name: `${set.name}+${kind}`,
      base: set.name,
      reportOnly: false,
      groups: seedsOf(options).map((seed) => () => inject(set, kind, seed)),
    }));
}

function simulatedJobs(options: RowOptions): Job[] {
  return options.kinds.map((kind) => ({
    origin: 'simulated',
    name: kind,
    base: null,
    reportOnly: 'reportOnly' in kinds[kind],
    groups: seedsOf(options).map((seed) => () => simulate(kind, seed, options.size)),
  }));
}
