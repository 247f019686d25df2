/** The goals of scoring, each with the figure that the rows reach. A row's figure is that of P(bad), unless it says otherwise. */
import { attackReference, referenceSize } from './attack-reference.js';
import { average, classicNames, type Measures, type MethodName } from './methods.js';
import type { Row } from './rows.js';
import type { GroupSize } from './scene.js';
import { injectedKinds, kindNames, kinds } from './simulator.js';

export interface Goal {
  readonly figure: string;
  readonly goal: string;
  /** Null where the rows do not hold what the figure needs. */
  readonly reached: string | null;
  readonly met: boolean | null;
  /** The same figure of the best classic method, where one compares. */
  readonly classic: string | null;
}

/** Ratings of one market, labelled for some members only: only its AUC means anything. */
const aucOnly = 'btc_otc';

/** Groups of a kind from which chance alone moves their mean AUC by far less than the half point that is asked. */
const comparableGroups = 400;

export function judgeGoals(rows: readonly Row[], size: GroupSize): Goal[] {
  const real = rows.filter(({ origin }) => origin === 'real');
  const calibrated = real.filter(({ name }) => name !== aucOnly);
  const attackFiles = rows.filter(({ origin, reportOnly }) => origin === 'attack file' && !reportOnly);
  const reportOnlyFiles = rows.filter(({ origin, reportOnly }) => origin === 'attack file' && reportOnly);
  const simulated = rows.filter(({ origin, name }) => origin === 'simulated' && name in attackReference);
  const attacks = whole(referenceKinds(false), simulated);
  const injected = whole(
    injectedKinds,
    rows.filter(({ origin }) => origin === 'injected'),
    ({ name, base }) => name.slice(`${base}+`.length),
  );
  const stealth = rows.filter(({ name }) => name === 'stealth15_pre3');
  return [
    atLeast('mean AUC, real sets', 86, real, 'auc'),
    atLeast('mean accuracy, real sets', 84, calibrated, 'accuracy'),
    atMost('mean Brier, real sets', 0.12, calibrated, 'brier', plain),
    largest('largest AUC gap to the best classic method, real sets', 1, real.map(gapToBest)),
    ...attackGoals('attack files', attackFiles),
    ...attackGoals('simulated attacks', attacks).map(withoutVerdict),
    largest('AUC lost by real votes under injected attackers, worst case', 0.3, losses(injected, real, 'pBad'), () =>
      Math.min(...classicNames.map((method) => Math.max(...losses(injected, real, method)))),
    ),
    atMost('stealthy Sybils (15 against 3 anchors), targets judged wrong', 0.33, stealth, 'targetsWrong', percent),
    atLeast('report-only attack files, mean AUC', 70, reportOnlyFiles, 'auc'),
    withoutVerdict(
      atLeast('report-only simulated groups, mean AUC', 70, whole(referenceKinds(true), simulated), 'auc'),
    ),
    largest(
      "simulated attackers against the reference simulator's, largest AUC difference of a kind",
      0.5,
      size.peers === referenceSize.peers && size.players === referenceSize.players
        ? simulated.filter(({ groups }) => groups >= comparableGroups).map(differenceFromReference)
        : [],
    ),
  ];
}

/** AUC points between a row and the reference on the same kind. */
function differenceFromReference(row: Row): number {
  return Math.abs(row.methods.reference.auc - attackReference[row.name]!.auc) * 100;
}

/** The goals were set on the attack files. Groups that are simulated here differ from those by chance, so their figures are shown beside the goal and not judged. */
function withoutVerdict(goal: Goal): Goal {
  return { ...goal, met: null };
}

function attackGoals(of: string, rows: readonly Row[]): Goal[] {
  const worst = (method: MethodName) => Math.min(...rows.map(({ methods }) => methods[method].auc)) * 100;
  return [
    atLeast(`mean AUC, ${of}`, 90.5, rows, 'auc'),
    {
      ...goal(`worst AUC, ${of}`, '87.0 or more', worst('pBad'), points, (value) => value >= 87),
      classic: known(Math.max(...classicNames.map(worst)), points),
    },
    atMost(`mean error on the targets, ${of}`, 0.2, rows, 'targetError', plain),
    atMost(`mean Brier, ${of}`, 0.038, rows, 'brier', plain),
  ];
}

/** The kinds of group that the goals were set for. */
function referenceKinds(reportOnly: boolean): string[] {
  return kindNames.filter((name) => name in attackReference && 'reportOnly' in kinds[name] === reportOnly);
}

/** The rows of these kinds where each of them is there, else none: a mean or a worst case over some is another figure. */
function whole(
  names: readonly string[],
  rows: readonly Row[],
  nameOf: (row: Row) => string = ({ name }) => name,
): Row[] {
  const found = rows.filter((row) => names.includes(nameOf(row)));
  return names.every((name) => found.some((row) => nameOf(row) === name)) ? found : [];
}

function gapToBest({ methods }: Row): number {
  return (Math.max(...classicNames.map((name) => methods[name].auc)) - methods.pBad.auc) * 100;
}

/** AUC points lost per injected row. */
function losses(injected: readonly Row[], real: readonly Row[], method: MethodName): number[] {
  const clean = new Map(real.map((row) => [row.name, row]));
  return injected.map((row) => (clean.get(row.base!)!.methods[method].auc - row.methods[method].auc) * 100);
}

function atLeast(figure: string, least: number, rows: readonly Row[], measure: 'auc' | 'accuracy'): Goal {
  const mean = (method: MethodName) => meanOf(rows, method, measure) * 100;
  return {
    ...goal(figure, `${points(least)} or more`, mean('pBad'), points, (value) => value >= least),
    classic: known(Math.max(...classicNames.map(mean)), points),
  };
}

function atMost(
  figure: string,
  most: number,
  rows: readonly Row[],
  measure: keyof Measures,
  print: (value: number) => string,
): Goal {
  const mean = (method: MethodName) => meanOf(rows, method, measure);
  return {
    ...goal(figure, `${print(most)} or less`, mean('pBad'), print, (value) => value <= most),
    classic: known(Math.min(...classicNames.map(mean)), print),
  };
}

function largest(figure: string, most: number, values: readonly number[], ofClassic?: () => number): Goal {
  const value = Math.max(...values);
  return {
    ...goal(figure, `${points(most)} or less`, value, points, () => value <= most),
    classic: ofClassic === undefined ? null : known(ofClassic(), points),
  };
}

/** A value that is none (the mean of nothing, an AUC of players of one class) is not measured. */
function goal(
  figure: string,
  text: string,
  value: number,
  print: (value: number) => string,
  holds: (value: number) => boolean,
): Omit<Goal, 'classic'> {
  const reached = known(value, print);
  return { figure, goal: text, reached, met: reached === null ? null : holds(value) };
}

function known(value: number, print: (value: number) => string): string | null {
  return Number.isFinite(value) ? print(value) : null;
}

function meanOf(rows: readonly Row[], method: MethodName, measure: keyof Measures): number {
  return average(rows.map(({ methods }) => methods[method][measure]));
}

function points(value: number): string {
  return value.toFixed(2);
}

function plain(value: number): string {
  return value.toFixed(3);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
