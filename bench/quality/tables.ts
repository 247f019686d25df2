/**
 * Builds the quality tables: verdicts per group and per family, a table per measure with a column per method, and the
 * goals.
 */
import { average } from '../statistics.js';
import { type Column, columnTable, type Table, tableText } from '../tables.js';
import { goalTables, goalVerdict, isCounted, type Population, standardsNote } from './goals.js';
import { type Measures, type MethodName, methodLabels, methodNames } from './methods.js';
import { families, type Row } from './rows.js';
import { caughtShare, hitShare, type Summary, summarise } from './summary.js';
import { type Damage, precisionOf, sumEach, type VerdictCount, type VerdictCounts } from './verdicts.js';

export const hundredths = (value: number): string => (Number.isNaN(value) ? '' : (value * 100).toFixed(2));
export const tenths = (value: number): string => (Number.isNaN(value) ? '-' : (value * 100).toFixed(1));
const thousandths = (value: number): string => (Number.isNaN(value) ? '' : value.toFixed(3));

interface Measure {
  readonly key: keyof Measures;
  readonly title: string;
  /** Prints the value; an empty text if it is unknown. */
  print(value: number): string;
}

const caught = 'Bad players caught where';
const measures: readonly Measure[] = [
  { key: 'auc', title: 'AUC, %, more is better', print: hundredths },
  { key: 'accuracy', title: 'Accuracy, %, more is better', print: hundredths },
  { key: 'brier', title: 'Brier score, less is better', print: thousandths },
  { key: 'targetError', title: 'Mean error on the targets, less is better', print: thousandths },
  { key: 'caughtAsVerdict', title: `${caught} as many good are hit as by suspicious or worse, %`, print: hundredths },
  { key: 'caughtAtFewHits', title: `${caught} at most .1 % of the good are hit, %`, print: hundredths },
];

interface Named {
  readonly origin: string;
  readonly name: string;
  readonly judgements: readonly unknown[];
}

export function rowLabel({ origin, name, judgements }: Named): string {
  return judgements.length > 1 ? `${origin}: ${name} x${judgements.length}` : `${origin}: ${name}`;
}

function labelled<R extends Named>(row: R): readonly [label: string, row: R] {
  return [rowLabel(row), row];
}

/** Returns one table for each measure that some method has on some row. */
export function measureTables(rows: readonly Row[]): Table[] {
  return measures.flatMap(({ key, title, print }) => {
    const filled = rows.filter(({ methods }) => methodNames.some((method) => !Number.isNaN(methods[method][key])));
    const columns = methodNames.map((method): Column<Row> => {
      return [methodLabels[method], ({ methods }) => print(methods[method][key])];
    });
    return [columnTable(title, columns, filled.map(labelled))];
  });
}

/** Prints how often verdicts are right among those that have one, and how many players have one. */
export function preciseCell(count: VerdictCount): string {
  return `${tenths(precisionOf(count))} (${count.caught + count.hit})`;
}

const verdictColumns: readonly Column<VerdictCounts & Pick<Row, 'methods'>>[] = [
  ['AUC', ({ methods }) => hundredths(methods.score.auc)],
  ['precise: untrusted', ({ untrusted }) => preciseCell(untrusted)],
  ['or suspicious', ({ suspicious }) => preciseCell(suspicious)],
  ['caught', ({ untrusted }) => tenths(caughtShare(untrusted))],
  ['', ({ suspicious }) => tenths(caughtShare(suspicious))],
  ['good hit', ({ untrusted }) => hundredths(hitShare(untrusted))],
  ['', ({ suspicious }) => hundredths(hitShare(suspicious))],
  ['at .1 %: score', ({ methods }) => tenths(methods.score.caughtAtFewHits)],
  ['oracle', ({ methods }) => tenths(methods.oracle.caughtAtFewHits)],
];

export function verdictTable(rows: readonly Row[]): Table {
  const lines = rows.map((row) => {
    const untrusted = sumEach(row.judgements.map(({ verdicts }) => verdicts.untrusted));
    const suspicious = sumEach(row.judgements.map(({ verdicts }) => verdicts.suspicious));
    return [rowLabel(row), { untrusted, suspicious, methods: row.methods }] as const;
  });
  return columnTable('Verdicts, %', verdictColumns, lines);
}

const summaryColumns: readonly Column<Summary>[] = [
  ['groups', ({ groups }) => String(groups)],
  ['AUC mean', ({ aucMean }) => hundredths(aucMean)],
  ['worst', ({ aucWorst }) => hundredths(aucWorst)],
  ['untrusted precise', ({ untrustedPrecise }) => tenths(untrustedPrecise)],
  ['worst of 20', ({ untrustedPreciseWorst }) => tenths(untrustedPreciseWorst)],
  ['or suspicious: mean', ({ suspiciousPreciseMean }) => tenths(suspiciousPreciseMean)],
  ['worst', ({ suspiciousPreciseWorst }) => tenths(suspiciousPreciseWorst)],
  ['caught', ({ untrustedCaught }) => tenths(untrustedCaught)],
  ['', ({ suspiciousCaught }) => tenths(suspiciousCaught)],
  ['good hit', ({ untrustedHit }) => hundredths(untrustedHit)],
  ['', ({ suspiciousHit }) => hundredths(suspiciousHit)],
  ['at .1 %: score', ({ scoreAtFewHits }) => tenths(scoreAtFewHits)],
  ['oracle', ({ oracleAtFewHits }) => tenths(oracleAtFewHits)],
];

function summaryTableOf(groups: readonly (readonly [label: string, rows: readonly Row[]])[]): Table {
  const filled = groups.filter(([, rows]) => rows.length > 0);
  const lines = filled.map(
    ([label, rows]) => [label, summarise(rows.flatMap(({ judgements }) => judgements))] as const,
  );
  return columnTable('Groups together, %', summaryColumns, lines);
}

/** Returns the summary of each population and family with rows. Only groups that count for goals are included. */
export function summaryTable(rows: readonly Row[]): Table {
  const populations = [
    ['data files', ['real', 'attack file']],
    ['simulated', ['simulated']],
  ] as const;
  return summaryTableOf(
    populations.flatMap(([population, origins]) =>
      families.map((family) => {
        const isOf = (row: Row) => origins.some((origin) => origin === row.origin) && row.family === family;
        return [`${population}: ${family}`, rows.filter((row) => isOf(row) && isCounted(row))] as const;
      }),
    ),
  );
}

const damageColumns: Readonly<Record<keyof Damage, string>> = {
  targets: 'targets',
  goodUntrusted: 'good untrusted',
  goodSuspicious: 'good suspicious or worse',
  badCaught: 'bad caught without',
  badLost: 'of these let go',
  badGained: 'bad caught more',
  badTrusted: 'bad trusted',
};

export function damageTable(rows: readonly Row[]): Table {
  const columns = Object.entries(damageColumns).map(([key, head]): Column<Damage> => {
    return [head, (sum) => String(sum[key as keyof Damage])];
  });
  const lines = rows.flatMap((row) => {
    const damages = row.judgements.flatMap(({ damage }) => damage ?? []);
    return damages.length === 0 ? [] : [[rowLabel(row), sumEach(damages)] as const];
  });
  return columnTable('Changed by the attack', columns, lines);
}

/** Returns the largest difference between nodes and the computation alone; null if no node was asked. */
export function nodeNote(rows: readonly Row[]): string | null {
  const checks = rows.flatMap(({ judgements }) => judgements.flatMap(({ node }) => node ?? []));
  if (checks.length === 0) return null;
  const difference = Math.max(...checks.map(({ scoreDifference }) => scoreDifference));
  const verdicts = checks.reduce((sum, { verdictsThatDiffer }) => sum + verdictsThatDiffer, 0);
  return `Read through HTTP: ${checks.length} groups; scores differ from the computation alone by at most ${difference.toFixed(4)}, and ${verdicts} verdicts differ.`;
}

export function withRows(tables: readonly Table[]): Table[] {
  return tables.filter(({ rows }) => rows.length > 0);
}

export function printTables(rows: readonly Row[], populations: readonly Population[]): string {
  const tables = [...measureTables(rows), verdictTable(rows), ...withRows([summaryTable(rows), damageTable(rows)])];
  return printed(tables, populations, standardsNote, [nodeNote(rows), conclusion(rows)]);
}

/** Prints tables, goals (`notJudged` says why if one was not judged) and the notes that are there. */
export function printed(
  tables: readonly Table[],
  populations: readonly Population[],
  notJudged: string,
  notes: readonly (string | null)[],
): string {
  const isPartial = populations.some(({ goals }) => goals.some((goal) => goalVerdict(goal) === 'not judged'));
  return [
    ...[...tables, ...goalTables(populations)].map(tableText),
    ...(isPartial ? [notJudged] : []),
    ...notes.filter((note) => note !== null),
  ].join('\n\n');
}

/** Compares the verdicts with the methods of the field in two sentences; null without groups that count for goals. */
export function conclusion(rows: readonly Row[]): string | null {
  const counted = rows.filter((row) => isCounted(row) && row.family === 'both-sided');
  const groups = counted.flatMap(({ judgements }) => judgements);
  if (groups.length === 0) return null;
  const { untrustedPrecise, suspiciousPreciseMean, untrustedCaught, suspiciousCaught } = summarise(groups);
  const caughtBy = (method: MethodName) => tenths(average(groups.map((one) => one.methods[method].caughtAsVerdict)));
  return [
    `In ${groups.length} groups that report and praise, \`untrusted\` is right ${tenths(untrustedPrecise)} times of 100 and \`suspicious\` or worse ${tenths(suspiciousPreciseMean)}; they catch ${tenths(untrustedCaught)} and ${tenths(suspiciousCaught)} of 100 bad players.`,
    `Where they hit as many good players, a majority catches ${caughtBy('majority')}, Dawid-Skene ${caughtBy('dawidSkene')} and EigenTrust ${caughtBy('eigenTrust')}.`,
  ].join(' ');
}

/** Prints report-only groups and the same groups with `session_clean`, one line below the other. */
export function printComparison(pairs: readonly { readonly without: Row; readonly with: Row }[]): string {
  const summary = summaryTableOf([
    ['reports only', pairs.map((pair) => pair.without)],
    ['with session_clean', pairs.map((pair) => pair.with)],
  ]);
  const verdicts = verdictTable(pairs.flatMap((pair) => [pair.without, pair.with]));
  return [verdicts, summary].map(tableText).join('\n\n');
}
