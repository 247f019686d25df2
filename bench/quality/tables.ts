/** The quality tables as text: one per measure, a row per group and a column per method; then the goals. */
import { alignColumns } from '../text-table.js';
import type { Goal } from './goals.js';
import { type Measures, methodLabels, methodNames } from './methods.js';
import type { Row } from './rows.js';

export interface Measure {
  readonly key: keyof Measures;
  readonly title: string;
  /** Whether more is better. */
  readonly more: boolean;
  /** Empty for what is not known. */
  print(value: number): string;
}

const hundredths = (value: number): string => (Number.isNaN(value) ? '' : (value * 100).toFixed(2));
const thousandths = (value: number): string => (Number.isNaN(value) ? '' : value.toFixed(3));

export const measures: readonly Measure[] = [
  { key: 'auc', title: 'AUC, %', more: true, print: hundredths },
  { key: 'accuracy', title: 'Accuracy, %', more: true, print: hundredths },
  { key: 'brier', title: 'Brier score', more: false, print: thousandths },
  { key: 'targetError', title: 'Mean error on the targets', more: false, print: thousandths },
];

/** The rows that have the measure for some method. */
export function rowsWith(rows: readonly Row[], { key }: Measure): Row[] {
  return rows.filter(({ methods }) => methodNames.some((method) => !Number.isNaN(methods[method][key])));
}

export function rowLabel({ origin, name, groups }: Row): string {
  return groups > 1 ? `${origin}: ${name} x${groups}` : `${origin}: ${name}`;
}

export function goalVerdict({ met, reached }: Goal): string {
  if (met === null) return reached === null ? 'not measured' : 'not judged';
  return met ? 'met' : 'MISSED';
}

export function printTables(rows: readonly Row[], goals: readonly Goal[]): string {
  const tables = measures.map((measure) =>
    alignColumns([
      [measure.title, ...methodNames.map((method) => methodLabels[method])],
      ...rowsWith(rows, measure).map((row) => [
        rowLabel(row),
        ...methodNames.map((method) => measure.print(row.methods[method][measure.key])),
      ]),
    ]),
  );
  const measured = goals.filter(({ reached }) => reached !== null);
  const verdicts = alignColumns([
    ['Goal', 'wanted', 'reached', 'best classic', ''],
    ...measured.map((goal) => [goal.figure, goal.goal, goal.reached ?? '-', goal.classic ?? '-', goalVerdict(goal)]),
  ]);
  const notes = [
    ...(measured.some((goal) => goalVerdict(goal) === 'not judged')
      ? [
          'Not judged: the goal was set on the attack files of --data; groups that are simulated here differ from them by chance.',
        ]
      : []),
    ...(measured.length < goals.length
      ? [`${goals.length - measured.length} further goals need data sets (--data FOLDER) or kinds that were left out.`]
      : []),
  ];
  return [...tables, [verdicts, ...notes].join('\n')].join('\n\n');
}
