/** Makes the rows of the tables of groups that report, detect, ban and lift: every file, and every simulated kind. */
import { isLifeFolder, type LifeGroup, listLifeSets, loadLifeSet } from '../../data/life-set.js';
import { type Groups, groupsOf, judgeGroups, type Seeds } from '../rows.js';
import { judgeLife, type LifeJudgement } from './judgement.js';
import { type LifeKind, lifeKinds, simulateLife } from './simulator.js';

export interface LifeRow {
  readonly origin: 'data file' | 'simulated';
  readonly name: string;
  readonly kind: LifeKind;
  readonly judgements: readonly LifeJudgement[];
}

export interface LifeRowOptions extends Seeds {
  /** Folders of data sets, of which those without life groups are left out. */
  readonly data: readonly string[];
  readonly kinds: readonly LifeKind[];
}

interface Job extends Omit<LifeRow, 'judgements'> {
  readonly groups: Groups<LifeGroup>;
}

export async function makeLifeRows(options: LifeRowOptions): Promise<LifeRow[]> {
  const files = options.data.filter(isLifeFolder).flatMap(fileJobs);
  const simulated = options.kinds.map((kind): Job => {
    const groups = groupsOf(options, (seed) => simulateLife(kind, seed, options.size));
    return { origin: 'simulated', name: kind, kind, groups };
  });
  return judgeGroups([...files.filter(({ kind }) => options.kinds.includes(kind)), ...simulated], judgeLife);
}

function fileJobs(folder: string): Job[] {
  return listLifeSets(folder).map(({ name, kind }) => {
    const known = lifeKinds.find((one) => one === kind);
    if (known === undefined) throw new Error(`${folder}: ${name} is of the unknown kind ${kind}`);
    return { origin: 'data file', name, kind: known, groups: [() => loadLifeSet(folder, name)] };
  });
}
