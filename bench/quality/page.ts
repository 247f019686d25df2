/** The quality figures as one HTML page with plots, complete in itself: no script, nothing loaded from elsewhere. */
import { page, table, text } from '../html.js';
import type { Goal } from './goals.js';
import { type MethodName, methodLabels, methodNames } from './methods.js';
import type { Row } from './rows.js';
import { goalVerdict, type Measure, measures, rowLabel, rowsWith } from './tables.js';

/** This service stands out; the oracle is a hollow ring, because nobody can be it. */
const colours: Readonly<Record<MethodName, string>> = {
  score: '#08519c',
  pBad: '#3182bd',
  reference: '#5b8fb0',
  majority: '#969696',
  beta: '#fdae6b',
  dawidSkene: '#e6550d',
  eigenTrust: '#74c476',
  eigenTrustPre: '#006d2c',
  oracle: 'currentColor',
};

const plot = { labelWidth: 300, width: 620, rowHeight: 18, top: 24 };

export function qualityPage(title: string, rows: readonly Row[], goals: readonly Goal[]): string {
  const sections = measures.map((measure) => {
    const shown = rowsWith(rows, measure);
    return `<h2>${text(measure.title)}, ${measure.more ? 'more' : 'less'} is better</h2>\n${dotPlot(shown, measure)}\n${measureTable(shown, measure)}`;
  });
  const goalsTable = table(
    ['Figure', 'Goal', 'Reached', 'Best classic method', ''],
    goals.map((goal) => [goal.figure, goal.goal, goal.reached ?? '-', goal.classic ?? '-', goalVerdict(goal)]),
    goals.map(({ met }) => met === false),
  );
  const legends = `<p>${methodNames.map(legend).join('\n')}</p>`;
  return page('Trust quality', title, ['<h2>Goals</h2>', goalsTable, legends, ...sections]);
}

/** One line per row, one dot per method, on an axis that just holds every value. */
function dotPlot(rows: readonly Row[], { key, print }: Measure): string {
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
      return `<circle cx="${x(value).toFixed(1)}" cy="${y}" r="4" ${paint(method)}><title>${text(`${methodLabels[method]}: ${print(value)}`)}</title></circle>`;
    });
    return `<text x="${plot.labelWidth}" y="${y + 4}" text-anchor="end">${text(rowLabel(row))}</text>${dots.join('')}`;
  });
  const width = plot.labelWidth + plot.width + 30;
  return `<svg width="${width}" height="${height}" role="img">${[...grid, ...lines].join('\n')}</svg>`;
}

function measureTable(rows: readonly Row[], { key, print }: Measure): string {
  return table(
    ['', ...methodNames.map((method) => methodLabels[method])],
    rows.map((row) => [rowLabel(row), ...methodNames.map((method) => print(row.methods[method][key]))]),
  );
}

function legend(method: MethodName): string {
  return `<span class="key"><svg width="12" height="12"><circle cx="6" cy="6" r="4" ${paint(method)}/></svg> ${text(methodLabels[method])}</span>`;
}

function paint(method: MethodName): string {
  return method === 'oracle' ? `fill="none" stroke="${colours.oracle}"` : `fill="${colours[method]}"`;
}
