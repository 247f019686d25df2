/** Draws a chart of lines over time with uPlot, in the colours of the theme, with the newest values as text. */
import { fill, h } from './dom.js';

export interface Line {
  readonly label: string;
  /** Name of the style's custom property. */
  readonly color: string;
}

export interface ChartOptions {
  readonly title: string;
  readonly lines: readonly Line[];
  /** Formats a value at the axis and below the plot. */
  readonly format: (value: number) => string;
  /** Range of the value axis. Default: from 0 to the greatest value. */
  readonly range?: readonly [number, number];
  /** Replaces the plot while no line has a value. */
  readonly emptyText?: string;
}

export interface Chart {
  readonly element: HTMLElement;
  /** Times in seconds since 1970, then one column per line. */
  show(data: readonly (readonly (number | null)[])[]): void;
  destroy(): void;
}

const height = 200;
const widthMin = 120;

export function lineChart({ title, lines, format, range, emptyText }: ChartOptions): Chart {
  const plot = h('div', { class: 'plot', role: 'img', 'aria-label': title });
  const legend = h('ul', { class: 'legend' });
  const nothing = h('p', { class: 'muted chart-empty', hidden: true }, emptyText ?? '');
  const caption = h('figcaption', {}, legend);
  const element = h('figure', { class: 'chart' }, nothing, plot, caption);
  let columns: readonly (readonly (number | null)[])[] = [[], ...lines.map(() => [])];
  let drawn: uPlot | null = null;

  function draw(): void {
    // The first call comes before the element is in the document, where it has neither a size nor the page's colours;
    // another call follows.
    if (!plot.isConnected) return;
    drawn?.destroy();
    const color = (name: string): string => resolvedColor(plot, name);
    const { fontFamily } = getComputedStyle(plot);
    const axis: uPlot.Axis = {
      stroke: color('--muted'),
      font: `12px ${fontFamily}`,
      grid: { stroke: color('--line'), width: 1 },
      ticks: { show: false },
    };
    const options: uPlot.Options = {
      width: Math.max(widthMin, plot.clientWidth),
      height,
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { size: 6 } },
      scales: { y: { range: (_plot, _min, max) => (range === undefined ? [0, rounded(max)] : [...range]) } },
      axes: [
        { ...axis, space: 80, size: 30, values: timesOf },
        { ...axis, size: 60, values: (_plot, splits) => splits.map((value) => format(value)) },
      ],
      series: [
        {},
        ...lines.map((line) => ({
          label: line.label,
          stroke: color(line.color),
          width: 2.5,
          points: { size: 5, fill: color(line.color) },
          spanGaps: false,
        })),
      ],
      hooks: { setCursor: [(self) => showIndex(self.cursor.idx ?? null)] },
    };
    drawn = new uPlot(options, columns as unknown as uPlot.AlignedData, plot);
    showIndex(null);
  }

  /** Shows the values at an index, or the newest ones. */
  function showIndex(index: number | null): void {
    const last = (columns[0]?.length ?? 0) - 1;
    const at = index ?? last;
    const values = lines.map((line, i) => ({ line, value: columns[i + 1]?.[at] ?? null }));
    fill(
      legend,
      index === null ? null : h('li', { class: 'muted' }, clockTime(columns[0]?.[at] ?? 0)),
      values.map(({ line, value }) =>
        h(
          'li',
          {},
          h('span', { class: `swatch ${line.color.slice(2)}` }),
          line.label,
          ' ',
          h('strong', {}, value === null ? '–' : format(value)),
        ),
      ),
    );
    if (index !== null) return;
    const said = values.map(({ line, value }) => `${line.label} ${value === null ? 'without a value' : format(value)}`);
    plot.setAttribute('aria-label', `${title}. Now: ${said.join(', ')}.`);
  }

  const resized = new ResizeObserver(() => {
    const width = Math.max(widthMin, plot.clientWidth);
    if (drawn === null) draw();
    else if (width !== drawn.width) drawn.setSize({ width, height });
  });
  resized.observe(plot);
  const rethemed = new MutationObserver(draw);
  rethemed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', draw);

  return {
    element,
    show(data) {
      columns = data;
      const isEmpty =
        emptyText !== undefined && columns.slice(1).every((column) => column.every((value) => value === null));
      nothing.hidden = !isEmpty;
      plot.hidden = isEmpty;
      caption.hidden = isEmpty;
      drawn?.setData(columns as unknown as uPlot.AlignedData);
      if (drawn !== null && drawn.cursor.idx == null) showIndex(null);
    },
    destroy() {
      resized.disconnect();
      rethemed.disconnect();
      system.removeEventListener('change', draw);
      drawn?.destroy();
    },
  };
}

/** Upper end of an axis: the next 1, 2 or 5 times a power of ten. */
function rounded(max: number | null): number {
  if (max === null || !(max > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(max));
  return (([1, 2, 5, 10] as const).find((step) => step * unit >= max) ?? 10) * unit;
}

function clockTime(seconds: number): string {
  return new Date(seconds * 1000).toTimeString().slice(0, 8);
}

/** Labels of the time axis, with seconds if minutes would repeat. */
function timesOf(_plot: uPlot, splits: readonly number[]): string[] {
  const isClose = splits.some((split, i) => i > 0 && split - (splits[i - 1] ?? 0) < 60);
  return splits.map((split) => clockTime(split).slice(0, isClose ? 8 : 5));
}

/** Resolves a custom property for the canvas, including the theme's side of `light-dark`. */
function resolvedColor(inside: HTMLElement, name: string): string {
  const probe = h('span', { hidden: true });
  probe.style.color = `var(${name})`;
  inside.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
