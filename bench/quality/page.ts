/** Renders the quality figures as one HTML page: plots of calibration and of catches against hits, and every table. */
import { type Line, lineChart } from '../line-chart.js';
import { average } from '../statistics.js';
import { escapeHtml, page, type Table, tableHtml } from '../tables.js';
import { isCounted, type Population } from './goals.js';
import { hitShares, type MethodName, methodLabels, methodNames } from './methods.js';
import { type Family, families, type Row } from './rows.js';
import { summarise } from './summary.js';
import { damageTable, goalTables, measureTables, nodeNote, summaryTable, verdictTable } from './tables.js';
import { sumCalibrations } from './verdicts.js';

/** Indexes into the palette of line charts. */
const colours: Readonly<Record<MethodName, number>> = {
  score: 0,
  pBad: 1,
  majority: 8,
  beta: 5,
  dawidSkene: 2,
  eigenTrust: 4,
  eigenTrustPre: 7,
  oracle: 6,
};

/** The smallest share of good players hit in the plot of catches. */
const hitShareMin = 1e-4;

export function qualityPage(title: string, rows: readonly Row[], populations: readonly Population[]): string {
  const note = nodeNote(rows);
  return page('Trust quality', title, [
    ...section('Goals', goalTables(populations)),
    ...(note === null ? [] : [`<p>${escapeHtml(note)}</p>`]),
    ...calibrationPlot(rows),
    ...families.flatMap((family) => catchPlot(rows, family)),
    ...section('Verdicts', [summaryTable(rows), verdictTable(rows)]),
    ...section('Changed by attempts', [damageTable(rows)]),
    ...section('Measures of every method', measureTables(rows)),
  ]);
}

/** Renders nothing if no table has a row. */
function section(heading: string, tables: readonly Table[]): string[] {
  const filled = tables.filter(({ rows }) => rows.length > 0);
  return filled.length === 0 ? [] : [`<h2>${escapeHtml(heading)}</h2>`, ...filled.map(tableHtml)];
}

/** Returns the groups of one family that count for goals. */
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
  const lines = calibrated.map(
    ({ family, colour, bins }): Line => ({
      name: family,
      colour,
      points: bins.map(({ predicted, actual }) => [predicted, actual] as const),
    }),
  );
  const diagonal = [
    [0, 0],
    [1, 1],
  ] as const;
  const ideal: Line = { name: 'perfectly calibrated', colour: colours.oracle, points: diagonal };
  const cells = calibrated.flatMap(({ family, bins }) =>
    bins.map(({ predicted, actual, players }) => [
      family,
      `${(predicted * 100).toFixed(1)} %`,
      `${(actual * 100).toFixed(1)} %`,
      String(players),
    ]),
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

/**
 * Plots the share of bad players caught against the share of good players hit, as the mean over the groups of a family.
 */
function catchPlot(rows: readonly Row[], family: Family): string[] {
  const groups = groupsOf(rows, family);
  if (groups.length === 0) return [];
  const ofMethods = methodNames.map((method): Line => {
    const caughtAt = (i: number) => average(groups.map(({ methods }) => methods[method].caughtAt[i]!));
    const points = hitShares.map((share, i) => [share, caughtAt(i)] as const);
    return { name: methodLabels[method], colour: colours[method], points };
  });
  const { untrustedHit, untrustedCaught, suspiciousHit, suspiciousCaught } = summarise(groups);
  const ofVerdict = (name: string, hit: number, caught: number): Line => ({
    name: `verdict ${name}: ${(caught * 100).toFixed(1)} % caught, ${(hit * 100).toFixed(2)} % hit`,
    colour: colours.score,
    points: hit < hitShareMin ? [] : [[hit, caught]],
  });
  const verdicts = [
    ofVerdict('untrusted', untrustedHit, untrustedCaught),
    ofVerdict('suspicious or worse', suspiciousHit, suspiciousCaught),
  ];
  const ticks = [hitShareMin, 0.001, 0.01, 0.1];
  return [
    `<h2>Bad players caught against good players hit, ${escapeHtml(family)} groups</h2>`,
    lineChart(
      [...ofMethods, ...verdicts],
      { label: 'share of good players hit', scale: Math.log10, ticks, print: (value) => `${value * 100} %` },
      { label: 'share of bad players caught', ticks: fifths, print: percent },
    ),
  ];
}
