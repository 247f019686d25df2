/** The quality tables as text: verdicts per group and per family, a table per measure with a column per method, and the goals. */
import { alignColumns } from '../text-table.js';
import { type Goal, isCounted, type Population } from './goals.js';
import { type Measures, methodLabels, methodNames } from './methods.js';
import { families, type Row } from './rows.js';
import { caughtShare, hitShare, type Summary, summarise } from './summary.js';
import { type Damage, precisionOf, sumCounts, sumDamages, type VerdictCount } from './verdicts.js';

export interface Measure {
  readonly key: keyof Measures;
  readonly title: string;
  /** Whether more is better. */
  readonly more: boolean;
  /** Empty for what is not known. */
  print(value: number): string;
}

const hundredths = (value: number): string => (Number.isNaN(value) ? '' : (value * 100).toFixed(2));
const tenths = (value: number): string => (Number.isNaN(value) ? '-' : (value * 100).toFixed(1));
const thousandths = (value: number): string => (Number.isNaN(value) ? '' : value.toFixed(3));

export const measures: readonly Measure[] = [
  { key: 'auc', title: 'AUC, %', more: true, print: hundredths },
  { key: 'accuracy', title: 'Accuracy, %', more: true, print: hundredths },
  { key: 'brier', title: 'Brier score', more: false, print: thousandths },
  { key: 'targetError', title: 'Mean error on the targets', more: false, print: thousandths },
  {
    key: 'caughtAsVerdict',
    title: 'Bad players caught where as many good ones are hit as by suspicious or worse, %',
    more: true,
    print: hundredths,
  },
  {
    key: 'caughtAtFewHits',
    title: 'Bad players caught where at most .1 % of the good ones are hit, %',
    more: true,
    print: hundredths,
  },
];

/** The rows that have the measure for some method. */
export function rowsWith(rows: readonly Row[], { key }: Measure): Row[] {
  return rows.filter(({ methods }) => methodNames.some((method) => !Number.isNaN(methods[method][key])));
}

export function rowLabel({ origin, name, judgements }: Row): string {
  return judgements.length > 1 ? `${origin}: ${name} x${judgements.length}` : `${origin}: ${name}`;
}

export function goalVerdict({ met, reached }: Goal): string {
  if (met === null) return reached === null ? 'not measured' : 'not judged';
  return met ? 'reached' : 'MISSED';
}

export const goalHead = ['Goal', 'wanted', 'reference', 'figure', ''];

export function goalCells(goal: Goal): string[] {
  return [goal.figure, goal.goal, goal.reference, goal.reached ?? '-', goalVerdict(goal)];
}

export const verdictHead = [
  'Verdicts, %',
  'AUC',
  'precise: untrusted',
  'or suspicious',
  'caught',
  '',
  'good hit',
  '',
  'at .1 %: score',
  'oracle',
];

/** One row of the table of verdicts; the groups of a kind are counted together. */
export function verdictCells(row: Row): string[] {
  const { judgements, methods } = row;
  const untrusted = sumCounts(judgements.map(({ verdicts }) => verdicts.untrusted));
  const suspicious = sumCounts(judgements.map(({ verdicts }) => verdicts.suspicious));
  return [
    rowLabel(row),
    hundredths(methods.score.auc),
    preciseCell(untrusted),
    preciseCell(suspicious),
    tenths(caughtShare(untrusted)),
    tenths(caughtShare(suspicious)),
    hundredths(hitShare(untrusted)),
    hundredths(hitShare(suspicious)),
    tenths(methods.score.caughtAtFewHits),
    tenths(methods.oracle.caughtAtFewHits),
  ];
}

function preciseCell(count: VerdictCount): string {
  return `${tenths(precisionOf(count))} (${count.caught + count.hit})`;
}

export const summaryHead = [
  'Groups together, %',
  'groups',
  'AUC mean',
  'worst',
  'untrusted precise',
  'worst of 20',
  'or suspicious: mean',
  'worst',
  'caught',
  '',
  'good hit',
  '',
  'at .1 %: score',
  'oracle',
];

/** The summary of each population and family that has a row; only the groups that goals are judged by. */
export function summaryRows(rows: readonly Row[]): string[][] {
  const populations = [
    ['data files', (row: Row) => row.origin === 'real' || row.origin === 'attack file'],
    ['simulated', (row: Row) => row.origin === 'simulated'],
  ] as const;
  return populations.flatMap(([population, isOf]) =>
    families.flatMap((family) => {
      const groups = rows
        .filter((row) => isOf(row) && isCounted(row) && row.family === family)
        .flatMap(({ judgements }) => judgements);
      return groups.length === 0 ? [] : [[`${population}: ${family}`, ...summaryCells(summarise(groups))]];
    }),
  );
}

function summaryCells(summary: Summary): string[] {
  return [
    String(summary.groups),
    hundredths(summary.aucMean),
    hundredths(summary.aucWorst),
    tenths(summary.untrustedPrecise),
    tenths(summary.untrustedPreciseWorst),
    tenths(summary.suspiciousPreciseMean),
    tenths(summary.suspiciousPreciseWorst),
    tenths(summary.untrustedCaught),
    tenths(summary.suspiciousCaught),
    hundredths(summary.untrustedHit),
    hundredths(summary.suspiciousHit),
    tenths(summary.scoreAtFewHits),
    tenths(summary.oracleAtFewHits),
  ];
}

export const damageHead = [
  'Changed by the attack',
  'targets',
  'good untrusted',
  'good suspicious or worse',
  'bad caught without',
  'of these let go',
  'bad caught more',
  'bad trusted',
];

export function damageRows(rows: readonly Row[]): string[][] {
  return rows.flatMap((row) => {
    const damages = row.judgements.flatMap(({ damage }) => damage ?? []);
    return damages.length === 0 ? [] : [[rowLabel(row), ...damageCells(sumDamages(damages))]];
  });
}

function damageCells(damage: Damage): string[] {
  return [
    damage.targets,
    damage.goodUntrusted,
    damage.goodSuspicious,
    damage.badCaught,
    damage.badLost,
    damage.badGained,
    damage.badTrusted,
  ].map(String);
}

/** How far the answers of nodes were from the computation alone; null where no node was asked. */
export function nodeNote(rows: readonly Row[]): string | null {
  const checks = rows.flatMap(({ judgements }) => judgements.flatMap(({ node }) => node ?? []));
  if (checks.length === 0) return null;
  const difference = Math.max(...checks.map(({ scoreDifference }) => scoreDifference));
  const verdicts = checks.reduce((sum, { verdictsThatDiffer }) => sum + verdictsThatDiffer, 0);
  return `Read through HTTP: ${checks.length} groups; scores differ from the computation alone by at most ${difference.toFixed(4)}, and ${verdicts} verdicts differ.`;
}

export function printTables(rows: readonly Row[], populations: readonly Population[]): string {
  const methodTables = measures.map((measure) =>
    alignColumns([
      [measure.title, ...methodNames.map((method) => methodLabels[method])],
      ...rowsWith(rows, measure).map((row) => [
        rowLabel(row),
        ...methodNames.map((method) => measure.print(row.methods[method][measure.key])),
      ]),
    ]),
  );
  const verdicts = alignColumns([verdictHead, ...rows.map(verdictCells)]);
  const summaries = summaryRows(rows);
  const damages = damageRows(rows);
  const goals = populations.map(({ name, goals: judged }) =>
    alignColumns([[`Goals, ${name}, %`, ...goalHead.slice(1)], ...judged.map(goalCells)]),
  );
  const isPartial = populations.some((population) =>
    population.goals.some((goal) => goalVerdict(goal) === 'not judged'),
  );
  return [
    ...methodTables,
    verdicts,
    ...(summaries.length === 0 ? [] : [alignColumns([summaryHead, ...summaries])]),
    ...(damages.length === 0 ? [] : [alignColumns([damageHead, ...damages])]),
    ...goals,
    ...(isPartial ? ['Not judged: the goal is about all kinds of the sets basic and new.'] : []),
    ...[nodeNote(rows)].filter((note) => note !== null),
  ].join('\n\n');
}

/** Report-only groups and the same groups with `session_clean`, one line below the other. */
export function printComparison(pairs: readonly { readonly without: Row; readonly with: Row }[]): string {
  const summary = (label: string, rows: readonly Row[]) => [
    label,
    ...summaryCells(summarise(rows.flatMap(({ judgements }) => judgements))),
  ];
  return [
    alignColumns([verdictHead, ...pairs.flatMap((pair) => [verdictCells(pair.without), verdictCells(pair.with)])]),
    alignColumns([
      summaryHead,
      summary(
        'reports only',
        pairs.map((pair) => pair.without),
      ),
      summary(
        'with session_clean',
        pairs.map((pair) => pair.with),
      ),
    ]),
  ].join('\n\n');
}
