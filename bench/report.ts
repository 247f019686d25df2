/**
 * Collects the results of a measurement: figures (each with its windows, so that two results can be compared), goals,
 * latencies and values over time. They are printed as tables and written as JSON and as a page.
 */
import type { LatencySummary } from './load/latency.js';
import { coreTime, environment, pinning, sharedCacheReadNs, shareTaken, strangersNote } from './machine.js';
import { resultPage } from './page.js';
import {
  type Course,
  type Figure,
  type Goal,
  meetsGoals,
  type NamedLatencies,
  plain,
  type Result,
  resultFormat,
  resultText,
  writeFile,
  writeJson,
} from './result.js';
import { median } from './statistics.js';

type Sense = 'at least' | 'at most';

export class Report {
  readonly #options: Readonly<Record<string, unknown>>;
  readonly #hasOwnLoad: boolean;
  readonly #startedAt = new Date().toISOString();
  readonly #environment = environment();
  readonly #cacheReadNs = sharedCacheReadNs();
  readonly #coreTime = coreTime();
  readonly #notes: string[] = [];
  readonly #measured = {
    figures: [] as Figure[],
    goals: [] as Goal[],
    latencies: [] as NamedLatencies[],
    courses: [] as Course[],
  };

  /** A null option was not given. */
  constructor(
    readonly measurement: string,
    options: object,
  ) {
    this.#options = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null));
    this.#hasOwnLoad = ['rate', 'connections'].some((name) => name in this.#options);
    if (this.#hasOwnLoad)
      this.note('goals apply to the default load of each measurement: none is judged with --rate or --connections');
  }

  note(text: string): void {
    this.#notes.push(text);
  }

  /**
   * Adds a figure and returns its value. Windows without a finite value are left out, such as a division by a server
   * that answered nothing.
   */
  figure(name: string, unit: string, better: Figure['better'], values: number | readonly number[]): number {
    const windows = typeof values === 'number' ? [] : values.filter((value) => Number.isFinite(value));
    const value = typeof values === 'number' ? values : median(windows);
    this.#measured.figures.push({ name, unit, better, value, windows });
    return value;
  }

  /**
   * Adds a goal that `value` must reach. The goal counts as not measured if `value` is null or no number, or if the
   * caller chose the load. `floor`: the value that a simpler program must keep, if that is not the goal. It is printed
   * beside the goal and judges nothing.
   */
  goal(figure: string, value: number | null, sense: Sense, bound: number, unit: string, floor?: number): void {
    this.#judge(figure, this.#hasOwnLoad ? null : value, sense, bound, unit, floor);
  }

  #judge(figure: string, value: number | null, sense: Sense, bound: number, unit: string, floor?: number): void {
    const isKnown = value !== null && Number.isFinite(value);
    const holds = (limit: number) => (sense === 'at least' ? value! >= limit : value! <= limit);
    const goal = `${sense} ${plain(bound)}${unit}${floor === undefined ? '' : `, floor ${plain(floor)}${unit}`}`;
    const missed = isKnown && floor !== undefined && !holds(floor) ? ', misses the floor' : '';
    const reached = isKnown ? `${plain(value)}${unit}${missed}` : null;
    this.#measured.goals.push({ figure, goal, reached, met: isKnown ? holds(bound) : null });
  }

  /** Adds a goal that fails the run if `value` misses it. */
  rule(figure: string, value: number, sense: Sense, bound: number, unit: string): void {
    this.#judge(figure, value, sense, bound, unit);
    const { met, goal, reached } = this.#measured.goals.at(-1)!;
    if (met === false) this.fault(`${figure}: ${reached}, and ${goal} is the rule`);
  }

  /** Adds a note that makes the figures invalid. It is printed before them, and the exit code is 1. */
  fault(text: string): void {
    this.note(`FAULT: ${text}`);
    process.exitCode = 1;
  }

  latencies(name: string, summary: LatencySummary): void {
    this.#measured.latencies.push({ name, ...summary });
  }

  course(course: Course): void {
    const known = course.points.filter((point) => point.every(Number.isFinite));
    if (known.length > 1) this.#measured.courses.push(course);
  }

  result(): Result {
    const cache_read_ns = Math.max(this.#cacheReadNs, sharedCacheReadNs());
    const taken_by_host = shareTaken(this.#coreTime, coreTime());
    const strangers = strangersNote(cache_read_ns, taken_by_host);
    return {
      format: resultFormat,
      scenario: this.measurement,
      started_at: this.#startedAt,
      environment: { ...this.#environment, pinning: pinning(), cache_read_ns, taken_by_host },
      options: this.#options,
      notes: strangers === undefined ? this.#notes : [strangers, ...this.#notes],
      ...this.#measured,
    };
  }
}

export interface OutputOptions {
  readonly json?: string | undefined;
  readonly html?: string | undefined;
  /** Whether a goal that is missed or was not measured fails the run. */
  readonly strict?: boolean | undefined;
}

/** Prints a result and writes its files. With `strict`, fails if a goal is not met. */
export function writeResult(result: Result, { json, html, strict }: OutputOptions): void {
  console.log(resultText(result));
  if (json !== undefined) writeJson(json, result);
  if (html !== undefined) writeFile(html, resultPage(result));
  if (strict === true && !meetsGoals(result)) process.exitCode = 1;
}
