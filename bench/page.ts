/** A result as one HTML page: goals, figures, latency by percentile, and what changed over the time of the run. */
import { page, table, text } from './html.js';
import { type Axis, decades, lineChart, ticksTo } from './line-chart.js';
import {
  type Course,
  faultsOf,
  figureCells,
  goalCells,
  latencyCells,
  latencyHead,
  type NamedLatencies,
  plain,
  type Result,
  remarksOf,
  titleOf,
} from './result.js';

/** Windows of other targets lie between those of one. */
const windowGaps = 3.5;

export function resultPage(result: Result): string {
  const { goals, figures, latencies, courses } = result;
  const sections = [
    ...faultsOf(result).map((fault) => `<p class="missed">${text(fault)}</p>`),
    ...(goals.length > 0 ? ['<h2>Goals</h2>', goalTable(goals)] : []),
    '<h2>Figures</h2>',
    table(['Figure', '', 'unit', 'windows'], figures.map(figureCells)),
    ...(latencies.length > 0 ? ['<h2>Latency</h2>', latencyChart(latencies), latencyTable(latencies)] : []),
    ...charts(courses),
    ...remarksOf(result).map((note) => `<p>${text(note)}</p>`),
  ];
  return page(`Bench: ${result.scenario}`, `${result.started_at}. ${titleOf(result)}.`, sections);
}

function goalTable(goals: Result['goals']): string {
  return table(
    ['Goal', 'wanted', 'reached', ''],
    goals.map(goalCells),
    goals.map(({ met }) => met === false),
  );
}

function latencyTable(latencies: readonly NamedLatencies[]): string {
  return table([...latencyHead], latencies.map(latencyCells));
}

/** Percentiles spread by their number of nines, microseconds by powers of ten. */
function latencyChart(latencies: readonly NamedLatencies[]): string {
  const lines = latencies
    .filter(({ percentiles }) => percentiles.length > 1)
    .map(({ name, percentiles }) => ({ name, points: percentiles.map(([p, us]) => [p, Math.max(us, 1)] as const) }));
  const values = lines.flatMap(({ points }) => points.map(([, us]) => us));
  if (values.length === 0) return '';
  const nines = (percentile: number) => -Math.log10(1 - percentile / 100);
  const highest = Math.max(...lines.flatMap(({ points }) => points.map(([p]) => p)));
  const ticks = [0, 50, 90, 99, 99.9, 99.99, 99.999].filter((tick) => tick <= highest);
  return lineChart(
    lines,
    { label: 'percentile', scale: nines, ticks, end: highest, print: (p) => `p${p}` },
    { label: 'latency, us', scale: Math.log10, ticks: decades(values), print: plain },
  );
}

function xAxis(lines: readonly Course[], highest: number): Axis {
  const { across, decades: byDecades } = lines[0]!;
  if (across === undefined) {
    return { label: 'seconds into the run', ticks: ticksTo(highest), print: plain, gaps: windowGaps };
  }
  if (byDecades === undefined) return { label: across, ticks: ticksTo(highest), print: plain };
  const ticks = decades(lines.flatMap(({ points }) => points.map(([x]) => x)));
  return { label: across, scale: Math.log10, ticks, print: plain };
}

function charts(courses: readonly Course[]): string[] {
  const names = [...new Set(courses.map(({ chart }) => chart))];
  return names.flatMap((name) => {
    const lines = courses.filter(({ chart }) => chart === name);
    const highest = (column: 0 | 1) =>
      Math.max(...lines.flatMap(({ points }) => points.map((point) => point[column])).filter(Number.isFinite));
    const y = { label: name, ticks: ticksTo(highest(1)), print: plain };
    return [`<h2>${text(name)}</h2>`, lineChart(lines, xAxis(lines, highest(0)), y)];
  });
}
