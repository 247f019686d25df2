/** What a result document holds, and its form as text. */
import type { Environment } from './environment.js';
import { at, type LatencySummary } from './load/latency.js';
import { strangersMark } from './neighbours.js';
import { alignColumns } from './text-table.js';

export const resultFormat = 1;

export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly better: 'more' | 'less';
  readonly value: number;
  /** The same in each window that `value` is the median of; empty for what was measured once. */
  readonly windows: readonly number[];
}

export interface Goal {
  readonly figure: string;
  readonly goal: string;
  /** Null where it was not measured. */
  readonly reached: string | null;
  readonly met: boolean | null;
}

export interface NamedLatencies extends LatencySummary {
  readonly name: string;
}

/** Something over the time of a run, in s, or over what `across` names. */
export interface Course {
  readonly name: string;
  /** Courses of one chart share an axis. */
  readonly chart: string;
  readonly across?: string;
  /** Each power of ten takes as much room as the next. */
  readonly decades?: true;
  readonly points: readonly (readonly [x: number, value: number])[];
}

export interface Result {
  readonly format: typeof resultFormat;
  readonly scenario: string;
  readonly started_at: string;
  readonly environment: Environment & {
    readonly pinning: string;
    /** The longer of before and after the run (`neighbours.ts`); not in results of earlier releases. */
    readonly cache_read_ns?: number;
    /** Of the time in which all cores had work, the share that the host gave to others; only where the system tells. */
    readonly taken_by_host?: number | undefined;
  };
  readonly options: Readonly<Record<string, unknown>>;
  readonly notes: readonly string[];
  readonly figures: readonly Figure[];
  readonly goals: readonly Goal[];
  readonly latencies: readonly NamedLatencies[];
  readonly courses: readonly Course[];
}

export function resultText(result: Result): string {
  const { figures, goals, latencies } = result;
  const tables = [
    titleOf(result),
    ...faultsOf(result),
    alignColumns([['Figure', '', 'unit', 'windows'], ...figures.map(figureCells)]),
    latencies.length > 0 && alignColumns([latencyHead, ...latencies.map(latencyCells)]),
    goals.length > 0 && alignColumns([['Goal', 'wanted', 'reached', ''], ...goals.map(goalCells)]),
    ...remarksOf(result),
  ];
  return tables.filter((table) => table !== false).join('\n\n');
}

/** What the notes begin with, up to a colon, that make the figures worthless. */
const faultMarks = ['FAULT', strangersMark];

/** The notes that make the figures worthless: they stand before these. */
export function faultsOf({ notes }: Pick<Result, 'notes'>): string[] {
  return notes.filter((note) => faultMarks.includes(markOf(note)));
}

/** The other notes. */
export function remarksOf({ notes }: Pick<Result, 'notes'>): string[] {
  return notes.filter((note) => !faultMarks.includes(markOf(note)));
}

export function markOf(note: string): string {
  return note.slice(0, note.indexOf(':'));
}

export function titleOf(result: Result): string {
  const { scenario, options } = result;
  const given = Object.entries(options).map(([name, value]) => `${name} ${String(value)}`);
  const { cache_read_ns: cacheNs, taken_by_host: taken } = result.environment;
  const cache = cacheNs === undefined ? '' : `, reads of its shared cache ${cacheNs} ns`;
  const host = taken === undefined ? '' : `, ${plain(100 * taken)} % of its time taken by its host`;
  return `${scenario}: ${given.join(', ')}; ${placeOf(result)}${cache}${host}`;
}

/** What was measured, and on what. */
export function placeOf({ environment: e }: Pick<Result, 'environment'>): string {
  return `commit ${e.commit}, Node ${e.node}, ${e.system}, ${e.cpu} x${e.cores}, ${e.pinning}`;
}

export function figureCells({ name, value, unit, windows }: Figure): string[] {
  const known = windows.filter(Number.isFinite);
  const spread = known.length > 1 ? `${plain(Math.min(...known))} to ${plain(Math.max(...known))}` : '';
  return [name, plain(value), unit, spread];
}

export function goalCells({ figure, goal, reached, met }: Goal): string[] {
  return [figure, goal, reached ?? '-', met === null ? 'not measured' : met ? 'met' : 'MISSED'];
}

/** Whether every goal was measured and is met. */
export function meetsGoals({ goals }: Result): boolean {
  return goals.every(({ met }) => met === true);
}

const told = [50, 90, 99, 99.9, 99.99];
export const latencyHead = ['Latency, us', 'answers', ...told.map((percentile) => `p${percentile}`), 'max'];

export function latencyCells(latencies: NamedLatencies): string[] {
  const cell = (us: number) => (Number.isNaN(us) ? '-' : plain(us));
  const { name, count, maxUs } = latencies;
  return [name, String(count), ...told.map((percentile) => cell(at(latencies, percentile))), cell(maxUs)];
}

/** Three digits or more: whole numbers from 100 on, with blanks between thousands. */
export function plain(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString('en-US').replaceAll(',', ' ');
  return String(Number(value.toPrecision(3)));
}

/** NaN where one of the values is: it has no place among the others. */
export function median(values: readonly number[]): number {
  if (values.some(Number.isNaN)) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
