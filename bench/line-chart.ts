/** Draws a line chart as SVG: named lines over shared axes, with a legend. */
import { greatest } from './statistics.js';
import { escapeHtml } from './tables.js';

export interface Line {
  readonly name: string;
  /** Index into the palette. Absent: the index of the line. */
  readonly colour?: number;
  /** A point that is not a number breaks the line. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Axis {
  readonly label: string;
  /** Position of a value in any unit that grows with the value. Absent: the value itself. */
  readonly scale?: (value: number) => number;
  readonly ticks: readonly number[];
  readonly print: (value: number) => string;
  /** End of the axis. Absent: the last tick. */
  readonly end?: number;
}

/**
 * Colours that are visible on white and black and distinct for colour-blind readers (Okabe and Ito, and two more). The
 * seventh is the colour of the text.
 */
const palette = '#0072b2 #d55e00 #009e73 #cc79a7 #56b4e9 #e69f00 currentColor #8c564b #7f7f7f'.split(' ');
const size = { width: 940, height: 300, left: 70, right: 34, top: 12, bottom: 40 };

export function lineChart(lines: readonly Line[], x: Axis, y: Axis): string {
  const placeX = placeOn(x, size.left, size.width - size.right);
  const placeY = placeOn(y, size.height - size.bottom, size.top);
  const bottom = size.height - size.bottom;
  const columns = x.ticks.map((tick) => {
    const at = placeX(tick);
    return `<line x1="${at}" x2="${at}" y1="${size.top}" y2="${bottom}" class="grid"/><text x="${at}" y="${bottom + 15}" text-anchor="middle">${escapeHtml(x.print(tick))}</text>`;
  });
  const rows = y.ticks.map((tick) => {
    const at = placeY(tick);
    return `<line x1="${size.left}" x2="${size.width - size.right}" y1="${at}" y2="${at}" class="grid"/><text x="${size.left - 6}" y="${Number(at) + 4}" text-anchor="end">${escapeHtml(y.print(tick))}</text>`;
  });
  const colours = lines.map(({ colour }, i) => palette[(colour ?? i) % palette.length]!);
  const drawn = lines.map(({ name, points }, i) => {
    const places = points.map((point) =>
      point.every(Number.isFinite) ? ([placeX(point[0]), placeY(point[1])] as const) : null,
    );
    const path = places.map((place, at) => (place === null ? '' : `${places[at - 1] ? 'L' : 'M'}${place}`));
    const alone = places.filter((place, at) => place !== null && !places[at - 1] && !places[at + 1]);
    const dots = alone.map((place) => `<circle cx="${place![0]}" cy="${place![1]}" r="2"/>`);
    return `<g stroke="${colours[i]}" fill="${colours[i]}"><title>${escapeHtml(name)}</title><path fill="none" stroke-width="1.6" d="${path.join('')}"/>${dots.join('')}</g>`;
  });
  const labels = [
    `<text x="${size.width - size.right}" y="${size.height - 6}" text-anchor="end">${escapeHtml(x.label)}</text>`,
    `<text x="${size.left + 6}" y="${size.top + 12}">${escapeHtml(y.label)}</text>`,
  ];
  const legend = lines.map(
    ({ name }, i) =>
      `<span class="key"><svg width="16" height="10"><line x1="0" x2="16" y1="5" y2="5" stroke="${colours[i]}" stroke-width="3"/></svg> ${escapeHtml(name)}</span>`,
  );
  const about = escapeHtml(`${y.label} by ${x.label}: ${lines.map(({ name }) => name).join('; ')}`);
  const shapes = [...columns, ...rows, ...drawn, ...labels].join('\n');
  return `<div class="wide"><svg width="${size.width}" height="${size.height}" role="img" aria-label="${about}">${shapes}</svg></div>\n<p>${legend.join('\n')}</p>`;
}

function placeOn(
  { scale = (value) => value, ticks, end = ticks.at(-1)! }: Axis,
  from: number,
  to: number,
): (value: number) => string {
  const low = scale(ticks[0]!);
  const high = scale(end);
  return (value) => (from + ((scale(value) - low) / (high - low || 1)) * (to - from)).toFixed(1);
}

/** Returns about five round ticks from 0 to at least `max`. */
export function ticksTo(max: number): number[] {
  if (!(max > 0)) return [0, 1];
  const rough = max / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough)!;
  return Array.from({ length: Math.ceil(max / step - 1e-9) + 1 }, (_, i) => i * step);
}

/** Returns the powers of ten around the values, which are positive. */
export function decades(values: readonly number[]): number[] {
  const least = values.reduce((found, value) => Math.min(found, value), Number.POSITIVE_INFINITY);
  const low = Math.floor(Math.log10(least));
  const high = Math.max(low + 1, Math.ceil(Math.log10(greatest(values))));
  return Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
}
