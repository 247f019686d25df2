/**
 * The goals of scoring for groups that vote once about a player. Means and worst cases depend on the size and number of
 * the groups, so each goal is judged only on the groups for which it was stated: those of the design on groups of 12
 * peers and 4,000 players; on the data files and on the first seeds of the usual size, the figures that the second
 * version reaches on the very same groups, less `tolerance`.
 */
import { average, least } from '../statistics.js';
import type { Table } from '../tables.js';
import type { Judgement } from './judgement.js';
import { worstPromises } from './promises.js';
import type { Family, Row, RowOrigin, Seeds } from './rows.js';
import { isReportOnly, type KindName, kindsOf } from './simulator.js';
import { hitShare, type Summary, summarise } from './summary.js';

export interface Goal {
  readonly figure: string;
  readonly goal: string;
  /** The figure to compare with, of `Population.reference`. */
  readonly reference: string;
  /** Null if the rows lack the data for the figure. */
  readonly reached: string | null;
  /** Null if there is no figure, or if the figure is not of the groups for which the goal was stated. */
  readonly met: boolean | null;
}

/** Groups that are judged together. */
export interface Population {
  readonly name: string;
  /** Heading of the figures to compare with. */
  readonly reference: string;
  readonly goals: readonly Goal[];
}

/** One number of a figure. A number without a bound is printed and not judged. */
export interface Part {
  readonly value: number;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly print: (value: number) => string;
}

/** Tolerance for the last bits of a number that reaches its bound exactly. */
const slack = 1e-9;

export function goalOf(figure: string, reference: string, parts: readonly Part[]): Goal {
  const known = parts.filter(({ value }) => Number.isFinite(value));
  return {
    figure,
    reference,
    goal: parts.map(({ atLeast, atMost }) => boundText(atLeast, atMost)).join(' / '),
    reached:
      known.length === 0
        ? null
        : parts.map(({ value, print }) => (Number.isFinite(value) ? print(value) : '-')).join(' / '),
    met: known.length === 0 ? null : known.every(holds),
  };
}

/** Judges a goal only on the groups for which it was stated. */
export function judgedIf(isStatedFor: boolean, goal: Goal): Goal {
  return isStatedFor ? goal : { ...goal, met: null };
}

function boundText(atLeast: number | undefined, atMost: number | undefined): string {
  if (atLeast !== undefined) return String(atLeast);
  return atMost === undefined ? '-' : `at most ${atMost}`;
}

function holds({ value, atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY }: Part): boolean {
  return value >= atLeast - slack && value <= atMost + slack;
}

type Bounds = Pick<Part, 'atLeast' | 'atMost'>;

/** A share in [0, 1], printed and judged as a percentage. */
export function percent(share: number, { digits = 1, ...bounds }: Bounds & { digits?: number } = {}): Part {
  return number(share * 100, bounds, digits);
}

export function number(value: number, bounds: Bounds, digits: number): Part {
  return { ...bounds, value, print: (shown) => shown.toFixed(digits) };
}

export function goalVerdict({ met, reached }: Goal): string {
  if (met === null) return reached === null ? 'not measured' : 'not judged';
  return met ? 'reached' : 'MISSED';
}

export function goalTables(populations: readonly Population[]): Table[] {
  return populations.map(({ name, reference, goals }) => ({
    head: [`Goals, ${name}, %`, 'wanted', reference, 'figure', ''],
    rows: goals.map((goal) => [goal.figure, goal.goal, goal.reference, goal.reached ?? '-', goalVerdict(goal)]),
    missed: goals.map(({ met }) => met === false),
  }));
}

/** The means and worst cases, each with the number of its numbers. */
const figures = [
  ['both-sided: untrusted precise, together / worst group of 20 or more', 2],
  ['both-sided: suspicious or worse precise, mean / worst', 2],
  ['both-sided: caught as untrusted / suspicious or worse', 2],
  ['both-sided: AUC, mean / worst', 2],
  ['both-sided: caught at .1 % of good hit, score / oracle', 2],
  ['report-only: untrusted precise / suspicious or worse, mean / worst', 3],
  ['report-only: caught as suspicious or worse', 1],
  ['nobody pre-trusted, AUC: three colluders of eight / 60 % Sybils', 2],
] as const;

/** Percentages, in the order of the numbers of `figures`. A number without a bound, NaN, is printed and not judged. */
interface Standard {
  /** Heading of the column of `known`. */
  readonly source: string;
  readonly wanted: readonly number[];
  readonly known: readonly number[];
}

const none = Number.NaN;

/** The goals of the design, and the figures of the reference implementation on groups that it had not seen. */
const design: Standard = {
  source: 'reference',
  wanted: [98, 95, 90, 80, 12, 24, 90.6, 87, 22.5, none, 96, 85, 70, 15, 88, 90],
  known: [98.3, 96.9, 90.6, 77.8, 11.3, 22.8, 90.4, 86.7, 22.2, 21.5, 96, 90, 60, 13.6, 88, 90],
};

/** Points by which a figure may lie below that of the second version on the same groups. */
const tolerance = 0.3;
/** The oracle is no method that the service could lose to itself. */
const oraclePlace = 9;

function notBelow(known: readonly number[]): Standard {
  const wanted = known.map((value, i) => (i === oraclePlace ? none : Number((value - tolerance).toFixed(1))));
  return { source: 'second version', known, wanted };
}

const onDataFiles = notBelow([
  ...[98.5, none, 92.4, 82.4, 9, 18.8, 90.1, 85.6, 20.3, 17.1],
  ...[100, 85.8, 66.7, 8.8, none, 90.3],
]);

/** By the number of seeds, from 1 on, at the usual size. */
const onFirstSeeds: Readonly<Record<number, Standard>> = {
  3: notBelow([98.4, 91.7, 89, 72.2, 8.7, 19.5, 89.1, 82.8, 17.1, 16.6, 97.6, 90.4, 66.7, 10.2, 86.4, 89.7]),
  20: notBelow([98, 87, 88.6, 57.1, 9.2, 19.7, 89.4, 77.9, 17.8, 16.9, 98.5, 91.2, 40, 10.2, 87.3, 89.9]),
};

export const standardsNote =
  'Not judged: the goal is about all kinds of the sets basic and new, as data files, as groups of 12 peers and 4,000 players, or as groups of 10 and 2,000 of the seeds 1 to 3 or 1 to 20.';

/** Judges data files and simulated groups apart. Leaves out a population without rows. */
export function judgePopulations(rows: readonly Row[], options: Seeds): Population[] {
  const populationOf = (name: string, origins: readonly RowOrigin[], standard: Standard | null): Population[] => {
    const of = rows.filter(({ origin }) => origins.includes(origin));
    return of.length === 0 ? [] : [{ name, reference: (standard ?? design).source, goals: judgeGoals(of, standard) }];
  };
  return [
    ...populationOf('data files', ['real', 'attack file'], onDataFiles),
    ...populationOf('simulated groups', ['simulated'], standardFor(options)),
  ];
}

function standardFor({ seed, seeds, size }: Seeds): Standard | null {
  if (size.peers === 12 && size.players === 4000) return design;
  return (size.peers === 10 && size.players === 2000 && seed === 1 && onFirstSeeds[seeds]) || null;
}

/** Judges the rows of one population; without a standard, only by the goals for any group. */
function judgeGoals(rows: readonly Row[], standard: Standard | null): Goal[] {
  const counted = rows.filter(isCounted);
  const groupsOf = (family: Family) => counted.filter((row) => row.family === family).flatMap((row) => row.judgements);
  const both = summarise(groupsOf('both-sided'));
  const reporting = summarise(groupsOf('report-only'));
  const real = summarise(groupsOf('real'));
  const [hasBothSided, hasReporting] = [false, true].map((reportOnly) => hasEveryKind(counted, reportOnly));
  const { wanted, known } = standard ?? design;
  const shares = [
    ...[both.untrustedPrecise, both.untrustedPreciseWorst, both.suspiciousPreciseMean, both.suspiciousPreciseWorst],
    ...[both.untrustedCaught, both.suspiciousCaught, both.aucMean, both.aucWorst],
    ...[both.scoreAtFewHits, both.oracleAtFewHits],
    ...[reporting.untrustedPrecise, reporting.suspiciousPreciseMean, reporting.suspiciousPreciseWorst],
    ...[reporting.suspiciousCaught, aucOf(rows, takeover), aucOf(rows, 'sybil60')],
  ];
  let first = 0;
  const goals = figures.map(([figure, numbers]) => {
    const places = Array.from({ length: numbers }, () => first++);
    const parts = places.map((i) => percent(shares[i]!, Number.isNaN(wanted[i]!) ? {} : { atLeast: wanted[i]! }));
    const knownText = places.map((i) => (Number.isNaN(known[i]!) ? '-' : known[i])).join(' / ');
    const isComplete = figure.startsWith('both') ? hasBothSided! : !figure.startsWith('report') || hasReporting!;
    return judgedIf(isComplete && standard !== null, goalOf(figure, knownText, parts));
  });
  return [
    ...goals,
    ...harmGoals(counted, reporting).map((one) =>
      judgedIf(hasReporting!, known === design.known ? one : { ...one, reference: '-' }),
    ),
    ...promiseGoals(rows.flatMap((row) => row.judgements)),
    goalOf('real sets: AUC, mean / worst', '91.7 / 81.7', [
      percent(real.aucMean, { atLeast: 92.2 }),
      percent(real.aucWorst, { atLeast: 82 }),
    ]),
  ];
}

/** Bounds on the harm to good players, which hold for groups of any size. */
function harmGoals(counted: readonly Row[], reporting: Summary): Goal[] {
  const shares = counted
    .flatMap((row) => row.judgements)
    .flatMap(({ victims }) => (victims === null || victims.good === 0 ? [] : [hitShare(victims)]));
  return [
    goalOf('report-only: good hit by suspicious or worse', '0.2', [
      percent(reporting.suspiciousHit, { atMost: 0.3, digits: 2 }),
    ]),
    goalOf('good victims of one liar read suspicious or worse, mean / worst', '4 / -', [
      percent(average(shares), { atMost: 2, digits: 2 }),
      percent(-least(shares.map((share) => -share))),
    ]),
  ];
}

function promiseGoals(groups: readonly Judgement[]): Goal[] {
  const all = groups.flatMap(({ promises }) => promises ?? []);
  const worst = all.length === 0 ? null : worstPromises(all);
  return [
    goalOf('one event about an unknown player: most points / verdicts that left neutral', '5 / 0', [
      number(Math.max(worst?.lowered ?? Number.NaN, worst?.raised ?? Number.NaN), { atMost: 5 }, 2),
      number(worst?.leftNeutral ?? Number.NaN, { atMost: 0 }, 0),
    ]),
    goalOf('a thousand reports of one peer: lowest score / verdicts that left neutral', '40.5 / 0', [
      number(worst?.lowestOfMany ?? Number.NaN, { atLeast: 40 }, 2),
      number(worst?.manyLeftNeutral ?? Number.NaN, { atMost: 0 }, 0),
    ]),
  ];
}

function aucOf(rows: readonly Row[], kind: KindName): number {
  const groups = rows.filter((row) => row.kind === kind).flatMap((row) => row.judgements);
  return average(groups.map(({ methods }) => methods.score.auc));
}

/** Returns whether the row belongs to the real votes or to a kind of group with goals. */
export function isCounted({ family, kind, origin }: Row): boolean {
  if (family === 'real') return origin === 'real';
  return kind !== null && goalKinds.includes(kind);
}

/** A group of another size, with a goal of its own. */
const takeover: KindName = 'collude3of8';

const goalKinds: readonly KindName[] = kindsOf(['basic', 'new']).filter((kind) => kind !== takeover);

function hasEveryKind(rows: readonly Row[], reportOnly: boolean): boolean {
  return goalKinds
    .filter((kind) => isReportOnly(kind) === reportOnly)
    .every((kind) => rows.some((row) => row.kind === kind));
}
