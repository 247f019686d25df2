/** The tables of groups that report, detect, ban and lift. */
import { type Column, columnTable, type Table } from '../../tables.js';
import type { Population } from '../goals.js';
import { caughtShare, hitShare } from '../summary.js';
import { hundredths, preciseCell, printed, rowLabel, tenths, withRows } from '../tables.js';
import { precisionOf } from '../verdicts.js';
import { type LifeJudgement, lifeMethodNames, lifeMethods, lifeRuleNames, lifeRules } from './judgement.js';
import type { LifeRow } from './rows.js';
import { ofSecondVersion } from './simulator.js';
import { banningPopulations, combine, lifeConclusion, totalsOf } from './summary.js';

type LifeColumn = Column<LifeJudgement & Pick<LifeRow, 'kind'>>;

const verdictColumns: readonly LifeColumn[] = [
  ['untrusted right', ({ condemned }) => preciseCell(condemned.untrusted)],
  ['or suspicious right', ({ condemned }) => preciseCell(condemned.suspicious)],
  ['caught', ({ condemned }) => tenths(caughtShare(condemned.untrusted))],
  ['', ({ condemned }) => tenths(caughtShare(condemned.suspicious))],
  ['two bans: suspicious', ({ withTwoBans }) => tenths(caughtShare(withTwoBans))],
  ['three: untrusted', ({ withThreeBans }) => tenths(caughtShare(withThreeBans))],
  ['good hit', ({ condemned }) => hundredths(hitShare(condemned.suspicious))],
  ['targets hit', ({ targets }) => tenths(hitShare(targets.suspicious))],
  ['second version: right', ({ kind }) => tenths(ofSecondVersion(kind).right)],
  ['caught', ({ kind }) => tenths(ofSecondVersion(kind).caught)],
];

const ruleColumns: readonly LifeColumn[] = [
  ...lifeRuleNames.map(
    (rule): LifeColumn => [
      lifeRules[rule],
      ({ condemned, targets }) =>
        [precisionOf(condemned[rule]), caughtShare(condemned[rule]), hitShare(targets[rule])].map(tenths).join(' / '),
    ],
  ),
  ...lifeMethodNames.map((method): LifeColumn => [`AUC ${lifeMethods[method]}`, ({ auc }) => tenths(auc[method])]),
];

export function lifeTables(rows: readonly LifeRow[]): Table[] {
  const lines = rows.map((row) => [rowLabel(row), { ...combine(row.judgements), kind: row.kind }] as const);
  return [
    columnTable('Verdicts, %', verdictColumns, lines),
    columnTable('Right / caught / good targets hit, %', ruleColumns, lines),
    totalsTable(rows),
  ];
}

function totalsTable(rows: readonly LifeRow[]): Table {
  return {
    head: ['All but reports, %', 'right', 'mean', 'worst of 10', 'caught', 'good hit', 'good targets hit'],
    rows: banningPopulations(rows).flatMap(({ name, rows: population }) => {
      const { all, rightMean, rightWorst } = totalsOf(population);
      return lifeRuleNames.map((rule) => [
        `${name}: ${lifeRules[rule]}`,
        preciseCell(all.condemned[rule]),
        tenths(rightMean[rule]),
        tenths(rightWorst[rule]),
        tenths(caughtShare(all.condemned[rule])),
        hundredths(hitShare(all.condemned[rule])),
        `${all.targets[rule].hit} of ${all.targets[rule].good}`,
      ]);
    }),
  };
}

export function printLifeTables(rows: readonly LifeRow[], populations: readonly Population[]): string {
  const note = 'Not judged: the goal is about every kind with bans, and 4,000 players or more.';
  return printed(withRows(lifeTables(rows)), populations, note, [lifeConclusion(rows)]);
}
