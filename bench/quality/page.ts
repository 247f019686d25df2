/** The quality figures as one HTML page with plots, complete in itself: no script, nothing loaded from elsewhere. */
import { page, table, text } from '../html.js';
import { type Line, lineChart } from '../line-chart.js';
import { isCounted, type Population } from './goals.js';
import { average, hitShares, type MethodName, methodLabels, methodNames } from './methods.js';
import { type Family, families, type Row } from './rows.js';
import { summarise } from './summary.js';
import {
  damageHead,
  damageRows,
  goalCells,
  goalHead,
  type Measure,
  measures,
  nodeNote,
  rowLabel,
  rowsWith,
  summaryHead,
  summaryRows,
  verdictCells,
  verdictHead,
} from './tables.js';
import { sumCalibrations } from './verdicts.js';

type Shape = 'disc' | 'diamond' | 'square' | 'triangle' | 'ring';

/**
 * Apart for colour-blind readers (Okabe and Ito). Where two colours are near each other, the shapes differ: this service's are
 * discs and diamonds, the simple classics squares, EigenTrust triangles. The oracle is a hollow ring, because nobody can be it.
 */
const marks: Readonly<Record<MethodName, { readonly shape: Shape; readonly colour: string }>> = {
  score: { shape: 'disc', colour: '#0072b2' },
  pBad: { shape: 'diamond', colour: '#d55e00' },
  majority: { shape: 'square', colour: '#7f7f7f' },
  beta: { shape: 'square', colour: '#e69f00' },
  dawidSkene: { shape: 'square', colour: '#009e73' },
  eigenTrust: { shape: 'triangle', colour: '#56b4e9' },
  eigenTrustPre: { shape: 'triangle', colour: '#8c564b' },
  oracle: { shape: 'ring', colour: 'currentColor' },
};

/** Places in the palette of line charts that have the colours of `marks`. */
const lineColours: Readonly<Record<MethodName, number>> = {
  score: 0,
  pBad: 1,
  majority: 8,
  beta: 5,
  dawidSkene: 2,
  eigenTrust: 4,
  eigenTrustPre: 7,
  oracle: 6,
};

const plot = { labelWidth: 300, width: 620, rowHeight: 18, top: 24 };

/** The least share of good players hit that the plot of catches shows. */
const hitShareMin = 1e-4;

export function qualityPage(title: string, rows: readonly Row[], populations: readonly Population[]): string {
  const goals = populations.flatMap(({ name, goals: judged }) => [
    `<h2>Goals, ${text(name)}</h2>`,
    table(
      goalHead,
      judged.map(goalCells),
      judged.map(({ met }) => met === false),
    ),
  ]);
  const note = nodeNote(rows);
  const verdicts = [
    '<h2>Verdicts</h2>',
    table(summaryHead, summaryRows(rows)),
    table(verdictHead, rows.map(verdictCells)),
  ];
  const damages = damageRows(rows);
  const sections = measures.map((measure) => {
    const shown = rowsWith(rows, measure);
    return `<h2>${text(measure.title)}, ${measure.more ? 'more' : 'less'} is better</h2>\n${dotPlot(shown, measure)}\n${measureTable(shown, measure)}`;
  });
  return page('Trust quality', title, [
    ...goals,
    ...(note === null ? [] : [`<p>${text(note)}</p>`]),
    ...calibrationPlot(rows),
    ...catchPlots(rows),
    ...verdicts,
    ...(damages.length === 0 ? [] : ['<h2>Changed by attempts</h2>', table(damageHead, damages)]),
    `<p>${methodNames.map(legend).join('\n')}</p>`,
    ...sections,
  ]);
}

/** The rows of one family that goals are judged by. */
function familyRows(rows: readonly Row[], family: Family): Row[] {
  return rows.filter((row) => isCounted(row) && row.family === family);
}

const hundredth = (value: number): string => `${Math.round(value * 100)} %`;
const tenthTicks = Array.from({ length: 11 }, (_, i) => i / 10);

/** Predicted against actual P(bad) in ten bins, a line per family, and the bins as a table. */
function calibrationPlot(rows: readonly Row[]): string[] {
  const calibrated = families.flatMap((family, colour) => {
    const groups = familyRows(rows, family).flatMap(({ judgements }) => judgements);
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
  const ideal: Line = {
    name: 'predicted as it is',
    colour: lineColours.oracle,
    points: [
      [0, 0],
      [1, 1],
    ],
  };
  return [
    '<h2>Calibration: predicted and actual share of bad players, ten bins</h2>',
    lineChart(
      [...lines, ideal],
      { label: 'predicted P(bad)', ticks: tenthTicks, print: hundredth },
      { label: 'actual share of bad players', ticks: tenthTicks.filter((_, i) => i % 2 === 0), print: hundredth },
    ),
    table(
      ['Groups', 'predicted', 'actual', 'players'],
      calibrated.flatMap(({ family, bins }) =>
        bins.map(({ predicted, actual, players }) => [
          family,
          `${(predicted * 100).toFixed(1)} %`,
          `${(actual * 100).toFixed(1)} %`,
          String(players),
        ]),
      ),
    ),
  ];
}

/** Share of bad players caught against share of good players hit, the mean over the groups of each family. */
function catchPlots(rows: readonly Row[]): string[] {
  return families.flatMap((family) => {
    const counted = familyRows(rows, family);
    if (counted.length === 0) return [];
    const groups = counted.flatMap(({ judgements }) => judgements);
    const ofMethods = methodNames.map(
      (method): Line => ({
        name: methodLabels[method],
        colour: lineColours[method],
        points: hitShares.map(
          (share, i) => [share, average(groups.map(({ methods }) => methods[method].caughtAt[i]!))] as const,
        ),
      }),
    );
    const { untrustedHit, untrustedCaught, suspiciousHit, suspiciousCaught } = summarise(groups);
    const ofVerdicts = [
      ['verdict untrusted', untrustedHit, untrustedCaught],
      ['verdict suspicious or worse', suspiciousHit, suspiciousCaught],
    ] as const;
    const points = ofVerdicts.map(
      ([name, hit, caught]): Line => ({
        name: `${name}: ${(caught * 100).toFixed(1)} % caught, ${(hit * 100).toFixed(2)} % hit`,
        colour: lineColours.score,
        points: hit < hitShareMin ? [] : [[hit, caught]],
      }),
    );
    return [
      `<h2>Bad players caught against good players hit, ${text(family)} groups</h2>`,
      lineChart(
        [...ofMethods, ...points],
        {
          label: 'share of good players hit',
          scale: Math.log10,
          ticks: [hitShareMin, 0.001, 0.01, 0.1],
          print: (value) => `${value * 100} %`,
        },
        { label: 'share of bad players caught', ticks: [0, 0.2, 0.4, 0.6, 0.8, 1], print: hundredth },
      ),
    ];
  });
}

/** One line per row, one dot per method, on an axis that just holds every value. */
function dotPlot(rows: readonly Row[], { key, title, print }: Measure): string {
  const values = rows
    .flatMap(({ methods }) => methodNames.map((method) => methods[method][key]))
    .filter((value) => !Number.isNaN(value));
  const low = Math.floor(Math.min(...values) * 10) / 10;
  const high = Math.max(low + 0.1, Math.ceil(Math.max(...values) * 10) / 10);
  const x = (value: number) => plot.labelWidth + 10 + ((value - low) / (high - low)) * plot.width;
  const height = plot.top + rows.length * plot.rowHeight + 8;
  const ticks = Array.from({ length: Math.round((high - low) * 10) + 1 }, (_, i) => low + i / 10);
  const grid = ticks.map((tick) => {
    const at = x(tick).toFixed(1);
    return `<line x1="${at}" x2="${at}" y1="${plot.top - 6}" y2="${height}" class="grid"/><text x="${at}" y="12" text-anchor="middle">${print(tick)}</text>`;
  });
  const lines = rows.map((row, i) => {
    const y = plot.top + (i + 0.5) * plot.rowHeight;
    // The service's own dots are drawn last, over the others.
    const dots = methodNames.toReversed().map((method) => {
      const value = row.methods[method][key];
      if (Number.isNaN(value)) return '';
      return `<g><title>${text(`${methodLabels[method]}: ${print(value)}`)}</title>${mark(method, x(value).toFixed(1), y)}</g>`;
    });
    return `<text x="${plot.labelWidth}" y="${y + 4}" text-anchor="end">${text(rowLabel(row))}</text>${dots.join('')}`;
  });
  const width = plot.labelWidth + plot.width + 30;
  const shapes = [...grid, ...lines].join('\n');
  return `<div class="wide"><svg width="${width}" height="${height}" role="img" aria-label="${text(title)}">${shapes}</svg></div>`;
}

function measureTable(rows: readonly Row[], { key, print }: Measure): string {
  return table(
    ['', ...methodNames.map((method) => methodLabels[method])],
    rows.map((row) => [rowLabel(row), ...methodNames.map((method) => print(row.methods[method][key]))]),
  );
}

function legend(method: MethodName): string {
  return `<span class="key"><svg width="12" height="12">${mark(method, '6', 6)}</svg> ${text(methodLabels[method])}</span>`;
}

function mark(method: MethodName, x: string, y: number): string {
  const { shape, colour } = marks[method];
  switch (shape) {
    case 'disc':
      return `<circle cx="${x}" cy="${y}" r="4" fill="${colour}"/>`;
    case 'ring':
      return `<circle cx="${x}" cy="${y}" r="4" fill="none" stroke="${colour}"/>`;
    case 'square':
      return `<path d="M${x},${y}m-3.5,-3.5h7v7h-7z" fill="${colour}"/>`;
    case 'diamond':
      return `<path d="M${x},${y}m0,-5l5,5l-5,5l-5,-5z" fill="${colour}"/>`;
    case 'triangle':
      return `<path d="M${x},${y}m0,-4.5l4.5,8h-9z" fill="${colour}"/>`;
  }
}
