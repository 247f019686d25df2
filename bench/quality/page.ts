/** Renders the quality figures as one HTML page: plots of calibration and of catches against hits, and every table. */
import { type Line, lineChart } from '../line-chart.js';
import { escapeHtml, page, type Table, tableHtml } from '../tables.js';
import { goalTables, isCounted, type Population } from './goals.js';
import { lifeMethodNames, lifeMethods, lifeRules } from './life/judgement.js';
import type { LifeRow } from './life/rows.js';
import { banningPopulations, combine } from './life/summary.js';
import { lifeTables } from './life/tables.js';
import { hitShares, type MethodName, meanFigures, methodLabels, methodNames } from './methods.js';
import { type Family, families, type Row } from './rows.js';
import { caughtShare, hitShare, summarise } from './summary.js';
import { damageTable, measureTables, nodeNote, summaryTable, verdictTable, withRows } from './tables.js';
import { sumCalibrations } from './verdicts.js';

/** Returns the index of a method's colour in the palette of line charts. */
function colourOf(method: MethodName): number {
  return methodNames.indexOf(method);
}

/** The smallest share of good players hit in the plot of catches. */
const hitShareMin = 1e-4;

export function qualityPage(
  title: string,
  rows: readonly Row[],
  populations: readonly Population[],
  life: readonly LifeRow[] = [],
): string {
  const note = nodeNote(rows);
  return page('Trust quality', title, [
    ...section('Goals', goalTables(populations)),
    ...(note === null ? [] : [`<p>${escapeHtml(note)}</p>`]),
    ...calibrationPlot(rows),
    ...families.flatMap((family) => familyPlot(rows, family)),
    ...lifePlots(life),
    ...section('Groups that report, detect, ban and lift', lifeTables(life)),
    ...section('Verdicts', [summaryTable(rows), verdictTable(rows)]),
    ...section('Changed by attempts', [damageTable(rows)]),
    ...section('Measures of every method', measureTables(rows)),
  ]);
}

function section(heading: string, tables: readonly Table[]): string[] {
  const filled = withRows(tables).map(tableHtml);
  return filled.length === 0 ? [] : [`<h2>${escapeHtml(heading)}</h2>`, ...filled];
}

function groupsOf(rows: readonly Row[], family: Family) {
  return rows.filter((row) => isCounted(row) && row.family === family).flatMap(({ judgements }) => judgements);
}

const percent = (value: number): string => `${Math.round(value * 100)} %`;
const tenths = Array.from({ length: 11 }, (_, i) => i / 10);
const fifths = tenths.filter((_, i) => i % 2 === 0);

/** Plots predicted against actual P(bad) in ten bins, one line per family, with a table of the bins. */
function calibrationPlot(rows: readonly Row[]): string[] {
  const calibrated = families.flatMap((family, colour) => {
    const groups = groupsOf(rows, family);
    if (groups.length === 0) return [];
    const bins = sumCalibrations(groups.map(({ calibration }) => calibration))
      .filter(({ players }) => players > 0)
      .map(({ players, bad, predicted }) => ({ players, predicted: predicted / players, actual: bad / players }));
    return [{ family, colour, bins }];
  });
  if (calibrated.length === 0) return [];
  const lines = calibrated.map(({ family, colour, bins }): Line => {
    return { name: family, colour, points: bins.map(({ predicted, actual }) => [predicted, actual] as const) };
  });
  const diagonal = [0, 1].map((share) => [share, share] as const);
  const ideal: Line = { name: 'perfectly calibrated', colour: colourOf('oracle'), points: diagonal };
  const cells = calibrated.flatMap(({ family, bins }) =>
    bins.map(({ predicted, actual, players }) => {
      return [family, ...[predicted, actual].map((share) => `${(share * 100).toFixed(1)} %`), String(players)];
    }),
  );
  return [
    '<h2>Calibration: predicted and actual share of bad players, ten bins</h2>',
    lineChart(
      [...lines, ideal],
      { label: 'predicted P(bad)', ticks: tenths, print: percent },
      { label: 'actual share of bad players', ticks: fifths, print: percent },
    ),
    tableHtml({ head: ['Groups', 'predicted', 'actual', 'players'], rows: cells }),
  ];
}

/** Plots the catches of each method as the mean over the groups of a family, and those of the verdicts. */
function familyPlot(rows: readonly Row[], family: Family): string[] {
  const groups = groupsOf(rows, family);
  if (groups.length === 0) return [];
  const means = meanFigures(groups.map(({ methods }) => methods));
  const lines = methodNames.map((method) => {
    return catchLine(methodLabels[method], colourOf(method), means[method].caughtAt);
  });
  const { untrustedHit, untrustedCaught, suspiciousHit, suspiciousCaught } = summarise(groups);
  return catchPlot(`${family} groups`, lines, [
    { name: 'untrusted', colour: colourOf('score'), hit: untrustedHit, caught: untrustedCaught },
    { name: 'suspicious or worse', colour: colourOf('score'), hit: suspiciousHit, caught: suspiciousCaught },
  ]);
}

/** The same of the groups that report, detect, ban and lift, beside a plain count of bans. */
function lifePlots(rows: readonly LifeRow[]): string[] {
  return banningPopulations(rows).flatMap(({ name, rows: population }) => {
    const { caughtAt, condemned } = combine(population.flatMap(({ judgements }) => judgements));
    return catchPlot(
      `${name} that ban`,
      lifeMethodNames.map((method) => {
        return catchLine(lifeMethods[method], colourOf(method === 'bans' ? 'majority' : method), caughtAt[method]);
      }),
      (['untrusted', 'suspicious', 'twoBans', 'threeBans'] as const).map((rule) => ({
        name: lifeRules[rule],
        colour: colourOf(rule.endsWith('Bans') ? 'majority' : 'score'),
        hit: hitShare(condemned[rule]),
        caught: caughtShare(condemned[rule]),
      })),
    );
  });
}

function catchLine(name: string, colour: number, caughtAt: readonly number[]): Line {
  return { name, colour, points: hitShares.map((share, i) => [share, caughtAt[i]!] as const) };
}

/** Plots shares of bad players caught against `hitShares`, and rules as single points. */
function catchPlot(
  of: string,
  lines: readonly Line[],
  rules: readonly { readonly name: string; readonly colour: number; readonly hit: number; readonly caught: number }[],
): string[] {
  const ofRules = rules.map(
    ({ name, colour, hit, caught }): Line => ({
      name: `${name}: ${(caught * 100).toFixed(1)} % caught, ${(hit * 100).toFixed(2)} % hit`,
      colour,
      points: hit < hitShareMin ? [] : [[hit, caught]],
    }),
  );
  const ticks = [hitShareMin, 0.001, 0.01, 0.1];
  return [
    `<h2>Bad players caught against good players hit, ${escapeHtml(of)}</h2>`,
    lineChart(
      [...lines, ...ofRules],
      { label: 'share of good players hit', scale: Math.log10, ticks, print: (value) => `${value * 100} %` },
      { label: 'share of bad players caught', ticks: fifths, print: percent },
    ),
  ];
}
