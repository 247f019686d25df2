/** Defines the result document, its files and its text form. */
import { readFileSync, writeFileSync } from 'node:fs';
import { at, type LatencySummary } from './load/latency.js';
import { type Environment, strangersMark } from './machine.js';
import { type Table, tableMarkdown, tableText } from './tables.js';

export const resultFormat = 1;

export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly better: 'more' | 'less';
  readonly value: number;
  /** Value of each window, with `value` as their median; empty for a figure that was measured once. */
  readonly windows: readonly number[];
}

export interface Goal {
  readonly figure: string;
  readonly goal: string;
  /** Null if the figure was not measured. */
  readonly reached: string | null;
  readonly met: boolean | null;
}

export interface NamedLatencies extends LatencySummary {
  readonly name: string;
}

/** A value over the seconds of a run. */
export interface Course {
  readonly name: string;
  /** Courses of one chart share an axis. */
  readonly chart: string;
  /** Points that are not numbers lie between two windows. */
  readonly points: readonly (readonly [x: number, value: number])[];
}

export interface Result {
  readonly format: typeof resultFormat;
  /** The name of the measurement. */
  readonly scenario: string;
  readonly started_at: string;
  readonly environment: Environment & {
    readonly pinning: string;
    /** The longer read time of before and after the run (`machine.ts`); absent in results of earlier releases. */
    readonly cache_read_ns?: number;
    /** Share of the cores' busy time that the host gave to others; absent if the system does not report it. */
    readonly taken_by_host?: number | undefined;
  };
  readonly options: Readonly<Record<string, unknown>>;
  readonly notes: readonly string[];
  readonly figures: readonly Figure[];
  readonly goals: readonly Goal[];
  readonly latencies: readonly NamedLatencies[];
  readonly courses: readonly Course[];
}

/** Returns the tables of a result, for the text and the page. A table without rows is left out. */
export function resultTables({
  figures,
  latencies,
  goals,
}: Result): Readonly<Record<'figures' | 'latencies' | 'goals', Table>> {
  return {
    figures: { head: ['Figure', '', 'unit', 'windows'], rows: figures.map(figureCells) },
    latencies: { head: latencyHead, rows: latencies.map(latencyCells) },
    goals: {
      head: ['Goal', 'wanted', 'reached', ''],
      rows: goals.map(goalCells),
      missed: goals.map(({ met }) => met === false),
    },
  };
}

export function resultText(result: Result): string {
  const tables = Object.values(resultTables(result)).filter(({ rows }) => rows.length > 0);
  return [titleOf(result), ...faultsOf(result), ...tables.map(tableText), ...remarksOf(result)].join('\n\n');
}

/** Notes that begin with one of these marks and a colon make the figures invalid. */
const faultMarks = ['FAULT', strangersMark];

/** Returns the notes that make the figures invalid. They are printed before the figures. */
export function faultsOf({ notes }: Pick<Result, 'notes'>): string[] {
  return notes.filter((note) => faultMarks.includes(markOf(note)));
}

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

export function placeOf({ environment: e }: Pick<Result, 'environment'>): string {
  return `commit ${e.commit}, Node ${e.node}, ${e.system}, ${e.cpu} x${e.cores}, ${e.pinning}`;
}

function figureCells({ name, value, unit, windows }: Figure): string[] {
  const known = windows.filter(Number.isFinite);
  const spread = known.length > 1 ? `${plain(Math.min(...known))} to ${plain(Math.max(...known))}` : '';
  return [name, plain(value), unit, spread];
}

export function goalCells({ figure, goal, reached, met }: Goal): string[] {
  return [figure, goal, reached ?? '-', met === null ? 'not measured' : met ? 'met' : 'MISSED'];
}

export function meetsGoals({ goals }: Result): boolean {
  return goals.every(({ met }) => met === true);
}

const percentiles = [50, 90, 99, 99.9, 99.99];
const latencyHead = ['Latency, us', 'answers', ...percentiles.map((percentile) => `p${percentile}`), 'max'];

function latencyCells(latencies: NamedLatencies): string[] {
  const cell = (us: number) => (Number.isNaN(us) ? '-' : plain(us));
  const { name, count, maxUs } = latencies;
  return [name, String(count), ...percentiles.map((percentile) => cell(at(latencies, percentile))), cell(maxUs)];
}

/** Prints three or more digits: whole numbers from 100 on, with blanks between thousands. */
export function plain(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString('en-US').replaceAll(',', ' ');
  return String(Number(value.toPrecision(3)));
}

/** Returns the goals of several results as a Markdown table, with the command that measured each. */
export function goalsTable(results: readonly Result[]): string {
  const rows = results.flatMap((result) =>
    result.goals.map((goal) => {
      const [figure, wanted, reached, verdict] = goalCells(goal) as [string, string, string, string];
      // A fault makes the figures invalid, whatever their value.
      const [fault] = faultsOf(result);
      return [figure, wanted, reached, fault === undefined ? verdict : markOf(fault), `\`${commandOf(result)}\``];
    }),
  );
  const places = results.map((result) => `${placeOf(result)}, ${result.started_at.slice(0, 10)}`);
  const table = tableMarkdown({ head: ['Goal', 'wanted', 'reached', '', 'measured by'], rows });
  return `${table}\n\n${[...new Set(places)].join('; ')}.`;
}

/** Contains every option, so that its meaning does not change with the defaults. */
function commandOf({ scenario, options }: Result): string {
  return [scenario, ...Object.entries(options).map(([name, value]) => `--${name} ${String(value)}`)].join(' ');
}

/** Reads a result. Refuses another document with the file's name and what was expected. */
export function readResult(file: string): Result {
  const document = parsed(file);
  const fault = faultOf(document);
  if (fault !== null) throw new Error(`${file} is not a result of a measurement, written with --json: ${fault}`);
  const result = document as Result;
  // JSON has null for numbers that are not finite.
  const known = (value: number | null) => value ?? Number.NaN;
  const figures = result.figures.map((figure) => {
    return { ...figure, value: known(figure.value), windows: figure.windows.map(known) };
  });
  return { ...result, figures };
}

function parsed(file: string): unknown {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(content);
  } catch {
    throw new Error(`${file} is not JSON: expected a result of a measurement, written with --json`);
  }
}

/** Looks at the format alone: only this program writes it. */
function faultOf(document: unknown): string | null {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return 'expected an object';
  if ('environment' in document && 'rows' in document && Array.isArray(document.rows)) {
    return 'it is a result of quality, whose rows have no windows; its goals are in its own table';
  }
  return 'format' in document && document.format === resultFormat ? null : `expected format ${resultFormat}`;
}

/** Writes a file. The error contains the file's name, which the error of a full disk lacks. */
export function writeFile(file: string, content: string): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new Error(`${file} cannot be written: ${(error as Error).message}`);
  }
}

export function writeJson(file: string, document: unknown): void {
  writeFile(file, `${JSON.stringify(document, null, 2)}\n`);
}
