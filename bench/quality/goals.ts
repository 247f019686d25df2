/**
 * The goals of scoring, each with the figure that the groups reach and the figure of the reference implementation on
 * groups that it had not seen.
 */

import { average, least } from '../statistics.js';
import type { Judgement } from './judgement.js';
import { worstPromises } from './promises.js';
import type { Family, Row } from './rows.js';
import { isReportOnly, type KindName, kindsOf } from './simulator.js';
import { hitShare, type Summary, summarise } from './summary.js';

export interface Goal {
  readonly figure: string;
  readonly goal: string;
  readonly reference: string;
  /** Null if the rows lack the data for the figure. */
  readonly reached: string | null;
  /** Null if there is no figure, or if the figure does not cover all kinds of the goal. */
  readonly met: boolean | null;
}

/** One number of a figure. A number without a bound is printed and not judged. */
interface Part {
  readonly value: number;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly print: (value: number) => string;
}

/** Groups that are judged together. */
export interface Population {
  readonly name: string;
  readonly goals: readonly Goal[];
}

/** Tolerance for the last bits of a number that reaches its bound exactly. */
const slack = 1e-9;

/** Judges data files and simulated groups apart. Leaves out a population without rows. */
export function judgePopulations(rows: readonly Row[]): Population[] {
  return [
    { name: 'data files', of: rows.filter(({ origin }) => origin === 'real' || origin === 'attack file') },
    { name: 'simulated groups', of: rows.filter(({ origin }) => origin === 'simulated') },
  ]
    .filter(({ of }) => of.length > 0)
    .map(({ name, of }) => ({ name, goals: judgeGoals(of) }));
}

/** Judges the rows of one population. */
export function judgeGoals(rows: readonly Row[]): Goal[] {
  const counted = rows.filter(isCounted);
  const groupsOf = (family: Family) => counted.filter((row) => row.family === family).flatMap((row) => row.judgements);
  const bothSided = summarise(groupsOf('both-sided'));
  const reporting = summarise(groupsOf('report-only'));
  const real = summarise(groupsOf('real'));
  const hasBothSided = hasEveryKind(counted, false);
  const hasReporting = hasEveryKind(counted, true);
  return [
    ...bothSidedGoals(bothSided).map((goal) => judgedIf(hasBothSided, goal)),
    ...reportingGoals(reporting).map((goal) => judgedIf(hasReporting, goal)),
    judgedIf(hasBothSided && hasReporting, victimsGoal(counted.flatMap((row) => row.judgements))),
    ...promiseGoals(rows.flatMap((row) => row.judgements)),
    goalOf('real sets: AUC, mean / worst', '91.7 / 81.7', [
      percent(real.aucMean, { atLeast: 92.2 }),
      percent(real.aucWorst, { atLeast: 82 }),
    ]),
    takeoverGoal(rows),
  ];
}

function bothSidedGoals(both: Summary): Goal[] {
  return [
    goalOf('both-sided: untrusted precise, together / worst group of 20 or more', '98.3 / 96.9', [
      percent(both.untrustedPrecise, { atLeast: 98 }),
      percent(both.untrustedPreciseWorst, { atLeast: 95 }),
    ]),
    goalOf('both-sided: suspicious or worse precise, mean / worst', '90.6 / 77.8', [
      percent(both.suspiciousPreciseMean, { atLeast: 90 }),
      percent(both.suspiciousPreciseWorst, { atLeast: 80 }),
    ]),
    goalOf('both-sided: caught as untrusted / suspicious or worse', '11.3 / 22.8', [
      percent(both.untrustedCaught, { atLeast: 12 }),
      percent(both.suspiciousCaught, { atLeast: 24 }),
    ]),
    goalOf('both-sided: caught at .1 % of good hit, score / oracle', '22.2 / 21.5', [
      percent(both.scoreAtFewHits, { atLeast: 22.5 }),
      percent(both.oracleAtFewHits, {}),
    ]),
    goalOf('both-sided: AUC, mean / worst', '90.4 / 86.7', [
      percent(both.aucMean, { atLeast: 90.6 }),
      percent(both.aucWorst, { atLeast: 87 }),
    ]),
  ];
}

function reportingGoals(reporting: Summary): Goal[] {
  return [
    goalOf('report-only: untrusted precise / suspicious or worse, mean / worst', '96 / 90 / 60', [
      percent(reporting.untrustedPrecise, { atLeast: 96 }),
      percent(reporting.suspiciousPreciseMean, { atLeast: 85 }),
      percent(reporting.suspiciousPreciseWorst, { atLeast: 70 }),
    ]),
    goalOf('report-only: caught as suspicious or worse / good hit', '13.6 / 0.2', [
      percent(reporting.suspiciousCaught, { atLeast: 15 }),
      percent(reporting.suspiciousHit, { atMost: 0.3, digits: 2 }),
    ]),
  ];
}

function victimsGoal(groups: readonly Judgement[]): Goal {
  const shares = groups.flatMap(({ victims }) => (victims === null || victims.good === 0 ? [] : [hitShare(victims)]));
  return goalOf('good victims of one liar read suspicious or worse, mean / worst', '4 / -', [
    percent(average(shares), { atMost: 2, digits: 2 }),
    percent(-least(shares.map((share) => -share)), {}),
  ]);
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

function takeoverGoal(rows: readonly Row[]): Goal {
  const aucOf = (kind: KindName) =>
    average(
      rows.filter((row) => row.kind === kind).flatMap((row) => row.judgements.map(({ methods }) => methods.score.auc)),
    );
  return goalOf('nobody pre-trusted, AUC: three colluders of eight / 60 % Sybils', '88 / 90', [
    percent(aucOf(takeover), { atLeast: 88 }),
    percent(aucOf('sybil60'), { atLeast: 90 }),
  ]);
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

/** Judges only a complete set of kinds. A mean or a worst case over some kinds is not the figure of the goal. */
function judgedIf(complete: boolean, goal: Goal): Goal {
  return complete ? goal : { ...goal, met: null };
}

function goalOf(figure: string, reference: string, parts: readonly Part[]): Goal {
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

function boundText(atLeast: number | undefined, atMost: number | undefined): string {
  if (atLeast !== undefined) return String(atLeast);
  return atMost === undefined ? '-' : `at most ${atMost}`;
}

function holds({ value, atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY }: Part): boolean {
  return value >= atLeast - slack && value <= atMost + slack;
}

type Bounds = Pick<Part, 'atLeast' | 'atMost'>;

/** A share in [0, 1], printed and judged as a percentage. */
function percent(share: number, { digits = 1, ...bounds }: Bounds & { digits?: number }): Part {
  return number(share * 100, bounds, digits);
}

function number(value: number, bounds: Bounds, digits: number): Part {
  return { ...bounds, value, print: (shown) => shown.toFixed(digits) };
}
