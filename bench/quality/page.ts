/** The quality figures as one HTML page with plots, complete in itself: no script, nothing loaded from elsewhere. */
import { page, table, text } from '../html.js';
import type { Goal } from './goals.js';
import { type MethodName, methodLabels, methodNames } from './methods.js';
import type { Row } from './rows.js';
import { goalVerdict, type Measure, measures, rowLabel, rowsWith } from './tables.js';

type Shape = 'disc' | 'diamond' | 'square' | 'triangle' | 'ring';

/**
 * Apart for colour-blind readers (Okabe and Ito), and where two colours are near each other their shapes are not: this service's are discs and
 * diamonds, the simple classics squares, EigenTrust triangles. The oracle is a hollow ring, because nobody can be it.
 */
const marks: Readonly<Record<MethodName, { readonly shape: Shape; readonly colour: string }>> = {
  score: { shape: 'disc', colour: '#0072b2' },
  pBad: { shape: 'diamond', colour: '#d55e00' },
  reference: { shape: 'disc', colour: '#cc79a7' },
  majority: { shape: 'square', colour: '#7f7f7f' },
  beta: { shape: 'square', colour: '#e69f00' },
  dawidSkene: { shape: 'square', colour: '#009e73' },
  eigenTrust: { shape: 'triangle', colour: '#56b4e9' },
  eigenTrustPre: { shape: 'triangle', colour: '#8c564b' },
  oracle: { shape: 'ring', colour: 'currentColor' },
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
