/**
 * Counts and times answers by route template, method, status and code, in nested maps: a library's counter looks its
 * labels up at each call, which would cost a score read a sixth of its time.
 */
import { getOrMake } from '../../core/get-or-make.js';
import type { LatencyCounts } from '../../group/ports/observer.js';

/** Upper bounds of the histogram, in seconds. A score from memory takes less than a tenth of a millisecond. */
const bucketsS = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

const COUNT = 'ptf_http_requests_total';
const TIME = 'ptf_http_request_duration_seconds';

interface Timed {
  readonly buckets: number[];
  sumS: number;
  readonly answers: Map<string, Map<number, number>>;
}

export class RequestTally {
  readonly #routes = new Map<string, Map<string, Timed>>();

  /** Records one answer. Labels are few and known: templates, methods, codes. */
  note(route: string, method: string, status: number, code: string, ms: number): void {
    const timed = this.#timed(route, method);
    const seconds = ms / 1000;
    let bucket = 0;
    while (bucket < bucketsS.length && seconds > bucketsS[bucket]!) bucket++;
    timed.buckets[bucket]!++;
    timed.sumS += seconds;
    const statuses = getOrMake(timed.answers, code, () => new Map<number, number>());
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }

  latencies(routes: ReadonlySet<string>): LatencyCounts {
    const sums = Array<number>(bucketsS.length + 1).fill(0);
    for (const route of routes)
      for (const { buckets } of this.#routes.get(route)?.values() ?? [])
        for (const [i, count] of buckets.entries()) sums[i]! += count;
    let below = 0;
    const upTo = sums.map((count) => {
      below += count;
      return below;
    });
    return { boundsS: bucketsS, upTo: upTo.slice(0, -1), total: below };
  }

  text(): string {
    return `${[...this.#countLines(), '', ...this.#timeLines()].join('\n')}\n`;
  }

  #timed(route: string, method: string): Timed {
    const methods = getOrMake(this.#routes, route, () => new Map<string, Timed>());
    return getOrMake(methods, method, () => ({
      buckets: Array<number>(bucketsS.length + 1).fill(0),
      sumS: 0,
      answers: new Map<string, Map<number, number>>(),
    }));
  }

  *#each(): IterableIterator<{ readonly labels: string; readonly timed: Timed }> {
    for (const [route, methods] of this.#routes)
      for (const [method, timed] of methods) yield { labels: `route="${route}",method="${method}"`, timed };
  }

  *#countLines(): IterableIterator<string> {
    yield* [`# HELP ${COUNT} Answers on the public port.`, `# TYPE ${COUNT} counter`];
    for (const { labels, timed } of this.#each()) {
      for (const [code, statuses] of timed.answers)
        for (const [status, count] of statuses) yield `${COUNT}{${labels},status="${status}",code="${code}"} ${count}`;
    }
  }

  *#timeLines(): IterableIterator<string> {
    yield* [`# HELP ${TIME} Time from the arrival of the request head to the answer.`, `# TYPE ${TIME} histogram`];
    for (const { labels, timed } of this.#each()) {
      let below = 0;
      for (const [i, count] of timed.buckets.entries()) {
        below += count;
        yield `${TIME}_bucket{le="${bucketsS[i] ?? '+Inf'}",${labels}} ${below}`;
      }
      yield `${TIME}_sum{${labels}} ${timed.sumS}`;
      yield `${TIME}_count{${labels}} ${below}`;
    }
  }
}
