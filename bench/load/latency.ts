/** Records latencies in an HDR histogram (3 significant digits), and lists the percentiles of the reports. */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

const longestNs = 600e9;

export interface LatencySummary {
  readonly count: number;
  readonly meanUs: number;
  readonly maxUs: number;
  /** `[percentile, us]`. A percentile is present only if at least one answer lies beyond it. */
  readonly percentiles: readonly (readonly [percentile: number, us: number])[];
}

/** Percentiles in tables and plots, evenly spread over the number of nines. */
const points = [
  1, 5, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95, 96, 97, 98, 99, 99.25, 99.5, 99.7, 99.8, 99.9, 99.95,
  99.97, 99.99, 99.995, 99.999,
];

export class Latencies {
  readonly #histogram: RecordableHistogram = createHistogram({ lowest: 1, highest: longestNs, figures: 3 });

  static sum(parts: readonly Latencies[]): Latencies {
    const all = new Latencies();
    for (const part of parts) all.#histogram.add(part.#histogram);
    return all;
  }

  record(ms: number): void {
    this.#histogram.record(Math.min(Math.max(1, Math.round(ms * 1e6)), longestNs));
  }

  get count(): number {
    return this.#histogram.count;
  }

  /** Returns the latency at a percentile of the reports, in ms; NaN if there are too few answers. */
  ms(percentile: number): number {
    return at(this.summary(), percentile) / 1000;
  }

  summary(): LatencySummary {
    const { count } = this.#histogram;
    const us = (ns: number) => ns / 1000;
    if (count === 0) return { count, meanUs: 0, maxUs: 0, percentiles: [] };
    // Computed in thousandths: of 1,000 answers one lies beyond the 99.9th percentile, and floating-point 0.1 would
    // round below one.
    const reported = points.filter(
      (percentile) => percentile <= 50 || count * Math.round((100 - percentile) * 1000) >= 1e5,
    );
    return {
      count,
      meanUs: us(this.#histogram.mean),
      maxUs: us(this.#histogram.max),
      percentiles: reported.map((percentile) => [percentile, us(this.#histogram.percentile(percentile))] as const),
    };
  }
}

/** Returns the latency at a percentile, in us; NaN if there are too few answers. */
export function at(summary: LatencySummary, percentile: number): number {
  return summary.percentiles.find(([p]) => p === percentile)?.[1] ?? Number.NaN;
}

/**
 * Repeats a call beside other work of the process, with pauses. `call` resolves to its duration, ms. Returns a function
 * that ends the calls and resolves to their 99th percentile.
 */
export function repeatCall(call: () => Promise<number>, pauseMs: number): () => Promise<number> {
  const latencies = new Latencies();
  let isOver = false;
  const running = (async () => {
    while (!isOver) {
      latencies.record(await call());
      await delay(pauseMs);
    }
  })();
  // The returned function reports the error.
  running.catch(() => undefined);
  return async () => {
    isOver = true;
    await running;
    return latencies.ms(99);
  };
}
