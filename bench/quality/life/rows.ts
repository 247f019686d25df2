/** Makes the rows of the tables of groups that report, detect, ban and lift: every file, and every simulated kind. */
import { isLifeFolder, type LifeGroup, listLifeSets, loadLifeSet } from '../../data/life-set.js';
import { startProgress } from '../../progress.js';
import type { GroupSize } from '../scene.js';
import { judgeLife, type LifeJudgement } from './judgement.js';
import { type LifeKind, lifeKinds, simulateLife } from './simulator.js';

export interface LifeRow {
  readonly origin: 'data file' | 'simulated';
  readonly name: string;
  readonly kind: LifeKind;
  /** One judgement for each group. */
  readonly judgements: readonly LifeJudgement[];
}

export interface LifeRowOptions {
  /** Folders of data sets, of which those without life groups are left out. */
  readonly data: readonly string[];
  readonly kinds: readonly LifeKind[];
  readonly seed: number;
  /** 0 for the data files alone. */
  readonly seeds: number;
  readonly size: GroupSize;
}

interface Job extends Omit<LifeRow, 'judgements'> {
  readonly groups: readonly (() => LifeGroup)[];
}

export async function makeLifeRows(options: LifeRowOptions): Promise<LifeRow[]> {
  const jobs = [...options.data.filter(isLifeFolder).flatMap(fileJobs), ...simulatedJobs(options)].filter(
    ({ kind, groups }) => groups.length > 0 && options.kinds.includes(kind),
  );
  const progress = startProgress(
    'judging life groups',
    jobs.reduce((sum, { groups }) => sum + groups.length, 0),
  );
  const rows: LifeRow[] = [];
  for (const { groups, ...job } of jobs) {
    const judgements: LifeJudgement[] = [];
    for (const group of groups) {
      judgements.push(await judgeLife(group()));
      progress.advance(1);
    }
    rows.push({ ...job, judgements });
  }
  progress.stop();
  return rows;
}

function fileJobs(folder: string): Job[] {
  return listLifeSets(folder).map(({ name, kind }) => {
    const known = lifeKinds.find((one) => one === kind);
    if (known === undefined) throw new Error(`${folder}: ${name} is of the unknown kind ${kind}`);
    return { origin: 'data file', name, kind: known, groups: [() => loadLifeSet(folder, name)] };
  });
}

function simulatedJobs({ kinds, seed, seeds, size }: LifeRowOptions): Job[] {
  return kinds.map((kind) => ({
    origin: 'simulated',
    name: kind,
    kind,
    groups: Array.from({ length: seeds }, (_, i) => () => simulateLife(kind, seed + i, size)),
  }));
}
