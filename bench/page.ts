/** Renders a result as one HTML page: goals, figures, latency by percentile, and values over the time of the run. */
import { type Axis, decades, type Line, lineChart, ticksTo } from './line-chart.js';
import {
  type Course,
  faultsOf,
  type NamedLatencies,
  plain,
  type Result,
  remarksOf,
  resultTables,
  titleOf,
} from './result.js';
import { greatest } from './statistics.js';
import { escapeHtml, page, tableHtml } from './tables.js';

export function resultPage(result: Result): string {
  const { latencies, courses } = result;
  const colours = coloursOf([...latencies, ...courses].map(({ name }) => name));
  const tables = resultTables(result);
  const section = (heading: string, table: keyof typeof tables, charts: readonly string[] = []): string[] =>
    tables[table].rows.length === 0 ? [] : [`<h2>${heading}</h2>`, ...charts, tableHtml(tables[table])];
  return page(`Bench: ${result.scenario}`, `${result.started_at}. ${titleOf(result)}.`, [
    ...faultsOf(result).map((note) => `<p class="missed">${escapeHtml(note)}</p>`),
    ...section('Goals', 'goals'),
    ...section('Figures', 'figures'),
    ...section('Latency', 'latencies', latencyCharts(latencies, colours)),
    ...courseCharts(courses, colours),
    ...remarksOf(result).map((note) => `<p>${escapeHtml(note)}</p>`),
  ]);
}

/** Colour of the part of a name after the comma, on the whole page. The part before the comma names the chart. */
type Colours = ReadonlyMap<string, number>;

/**
 * Splits the name of a series. Series are named `what, server`, and one kind of their requests `what, server: kind`.
 * All other series share one chart.
 */
function partsOf(name: string): { what: string; server: string | null } {
  const [, what, server, kind = ''] = /^([^,]*), (.*?)(: .*)?$/.exec(name) ?? [];
  return server === undefined ? { what: '', server: null } : { what: what + kind, server };
}

function coloursOf(names: readonly string[]): Colours {
  const servers = new Set(names.map((name) => partsOf(name).server).filter((server) => server !== null));
  return new Map([...servers].map((server, i) => [server, i]));
}

/** Groups the lines by chart. */
function chartsOf<T extends Line>(lines: readonly T[], colours: Colours): [what: string, lines: T[]][] {
  const charts = new Map<string, T[]>();
  for (const line of lines) {
    const { what, server } = partsOf(line.name);
    const coloured = server === null ? line : { ...line, colour: colours.get(server)! };
    charts.set(what, [...(charts.get(what) ?? []), coloured]);
  }
  return [...charts];
}

function latencyCharts(latencies: readonly NamedLatencies[], colours: Colours): string[] {
  const lines = latencies
    .filter(({ percentiles }) => percentiles.length > 1)
    .map(({ name, percentiles }) => ({ name, points: percentiles.map(([p, us]) => [p, Math.max(us, 1)] as const) }));
  return chartsOf(lines, colours).flatMap(([what, of]) => [heading(what), latencyChart(of)]);
}

function heading(what: string): string {
  return what === '' ? '' : `<h3>${escapeHtml(what)}</h3>`;
}

/** Draws percentiles by their number of nines, and microseconds by powers of ten. */
function latencyChart(lines: readonly Line[]): string {
  const values = lines.flatMap(({ points }) => points.map(([, us]) => us));
  const nines = (percentile: number) => -Math.log10(1 - percentile / 100);
  const highest = greatest(lines.flatMap(({ points }) => points.map(([p]) => p)));
  const ticks = [0, 50, 90, 99, 99.9, 99.99, 99.999].filter((tick) => tick <= highest);
  return lineChart(
    lines,
    { label: 'percentile', scale: nines, ticks, end: highest, print: (p) => `p${p}` },
    { label: 'latency, us', scale: Math.log10, ticks: decades(values), print: plain },
  );
}

function xAxis(lines: readonly Course[]): Axis {
  const values = lines.flatMap(({ points }) => points.map(([x]) => x)).filter(Number.isFinite);
  const ticks = ticksTo(greatest(values));
  // Start the axis at the first measurement.
  const first = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const before = ticks.filter((tick) => tick <= first).length - 1;
  return { label: 'seconds into the run', ticks: ticks.slice(Math.max(0, before)), print: plain };
}

function courseCharts(courses: readonly Course[], colours: Colours): string[] {
  const names = [...new Set(courses.map(({ chart }) => chart))];
  return names.flatMap((name) => {
    const ofChart = courses.filter(({ chart }) => chart === name);
    const charts = chartsOf(ofChart, colours).flatMap(([what, lines]) => [heading(what), courseChart(name, lines)]);
    return [`<h2>${escapeHtml(name)}</h2>`, ...charts];
  });
}

function courseChart(name: string, lines: readonly Course[]): string {
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value)).filter(Number.isFinite);
  return lineChart(lines, xAxis(lines), { label: name, ticks: ticksTo(greatest(values)), print: plain });
}
