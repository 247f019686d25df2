/** Draws a chart of lines over time with uPlot, in the colours of the page, with the newest values as text. */
import { type Child, html } from './html.js';

export interface ChartProps {
  readonly title: string;
  readonly labels: readonly string[];
  /** Times in seconds since 1970, then one column per line; null means no value. */
  readonly data: readonly (readonly (number | null)[])[];
  readonly format: (value: number) => string;
  /** Range of the value axis. Default: from 0 to the greatest value. */
  readonly range?: readonly [number, number];
  readonly emptyText?: string;
}

const colors = ['series-a', 'series-b'];
const height = 200;
const widthMin = 120;

export class Chart extends preact.Component<ChartProps, { readonly index: number | null }> {
  override state = { index: null };
  readonly #element = preact.createRef<HTMLDivElement>();
  readonly #resized = new ResizeObserver(() => this.#fit());
  readonly #system = matchMedia('(prefers-color-scheme: dark)');
  readonly #recolour = (): void => this.#draw();
  #plot: uPlot | null = null;

  override componentDidMount(): void {
    this.#resized.observe(this.#element.current!);
    this.#system.addEventListener('change', this.#recolour);
  }

  override componentDidUpdate({ data }: ChartProps): void {
    if (data !== this.props.data) this.#plot?.setData(this.#columns);
  }

  override componentWillUnmount(): void {
    this.#resized.disconnect();
    this.#system.removeEventListener('change', this.#recolour);
    this.#plot?.destroy();
  }

  override render(): Child {
    const { title, labels, data, format, emptyText } = this.props;
    const { index } = this.state;
    const last = (data[0]?.length ?? 0) - 1;
    const textAt = (i: number, at: number, none: string): string => {
      const value = data[i + 1]?.[at] ?? null;
      return value === null ? none : format(value);
    };
    const newest = labels.map((name, i) => `${name} ${textAt(i, last, 'without a value')}`);
    const label = `${title}. Now: ${newest.join(', ')}.`;
    const hasValue = data.slice(1).some((column) => column.some((value) => value !== null));
    const isEmpty = emptyText !== undefined && !hasValue;
    return html`<figure class="chart">
      <p class="muted chart-empty" hidden=${!isEmpty}>${emptyText}</p>
      <div class="plot" role="img" aria-label=${label} hidden=${isEmpty} ref=${this.#element}></div>
      <figcaption hidden=${isEmpty}><ul class="legend">
        ${index !== null && html`<li class="muted">${clockTime(data[0]?.[index] ?? 0)} UTC</li>`}
        ${labels.map(
          (name, i) => html`<li>
            <span class=${`swatch ${colors[i]}`}></span>${name} <strong>${textAt(i, index ?? last, '–')}</strong>
          </li>`,
        )}
      </ul></figcaption>
    </figure>`;
  }

  get #columns(): uPlot.AlignedData {
    return this.props.data as unknown as uPlot.AlignedData;
  }

  #fit(): void {
    const width = Math.max(widthMin, this.#element.current?.clientWidth ?? 0);
    if (this.#plot === null) this.#draw();
    else if (width !== this.#plot.width) this.#plot.setSize({ width, height });
  }

  #draw(): void {
    const element = this.#element.current;
    if (element === null) return;
    this.#plot?.destroy();
    const { labels, format, range } = this.props;
    const color = (name = ''): string => resolvedColor(element, `--${name}`);
    const axis: uPlot.Axis = {
      stroke: color('muted'),
      font: `12px ${getComputedStyle(element).fontFamily}`,
      grid: { stroke: color('line'), width: 1 },
      ticks: { show: false },
    };
    const options: uPlot.Options = {
      width: Math.max(widthMin, element.clientWidth),
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
        ...labels.map((label, i) => {
          const stroke = color(colors[i]);
          return { label, stroke, width: 2.5, points: { size: 5, fill: stroke }, spanGaps: false };
        }),
      ],
      hooks: { setCursor: [({ cursor }) => this.setState({ index: cursor.idx ?? null })] },
    };
    this.#plot = new uPlot(options, this.#columns, element);
  }
}

/** Upper end of an axis: the next 1, 2 or 5 times a power of ten. */
function rounded(max: number | null): number {
  if (max === null || !(max > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(max));
  return (([1, 2, 5, 10] as const).find((step) => step * unit >= max) ?? 10) * unit;
}

function clockTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(11, 19);
}

/** Labels of the time axis in UTC, with seconds if minutes would repeat. */
function timesOf(_plot: uPlot, splits: readonly number[]): string[] {
  const isClose = splits.some((split, i) => i > 0 && split - (splits[i - 1] ?? 0) < 60);
  return splits.map((split) => clockTime(split).slice(0, isClose ? 8 : 5));
}

/** Resolves a custom property for the canvas, including its side of `light-dark`. */
function resolvedColor(inside: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.hidden = true;
  probe.style.color = `var(${name})`;
  inside.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
