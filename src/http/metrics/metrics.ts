/** Owns the counters and histograms of the node. No label is an id: it would be a leak and an unbounded set. */
import { createServer, type Server } from 'node:http';
import type { Logger } from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { routes } from '../../contract/routes.js';
import { getOrMake } from '../../core/get-or-make.js';
import type { GroupObserver, LatencyCounts, Traffic } from '../../group/ports/observer.js';
import { serverBounds } from '../../limits.js';
import { listening } from '../../listening.js';
import type { RequestObserver } from '../deps.js';
import { parseTarget } from '../request/head.js';
import { registerGauges, type WatchedGroup } from './gauges.js';

export interface Metrics extends GroupObserver, RequestObserver {
  text(): Promise<string>;
  readonly contentType: string;
  traffic(): Traffic;
}

const readRoutes: ReadonlySet<string> = new Set(
  [routes.getTrustScore, routes.getTrustScores, routes.getVerdict, routes.listPlayerEvents].map(({ path }) => path),
);
const eventRoutes: ReadonlySet<string> = new Set([routes.submitEvent, routes.submitEvents].map(({ path }) => path));

/** With names of counters, which promtool refuses. Each is the sum of the gauge without `_total`. */
const misnamedGauges = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

const secondsBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** Work of the pools ranges from milliseconds for a small group's weights to a computation that is ended as hung. */
const workBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const recordsBuckets = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000];

export function createMetrics(version: string, group: () => WatchedGroup): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter<L>({ name, help, labelNames, registers });
  const histogram = <L extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly L[] = [],
  ) => new Histogram<L>({ name, help, buckets, labelNames, registers });
  collectDefaultMetrics({ register: registry });
  for (const name of misnamedGauges) registry.removeSingleMetric(name);

  const requests = new RequestTally();
  // Counts decided events between two scrapes, so that an event needs no look-up of labels.
  const decidedSince = new Map<string, Map<string, number>>();
  const decided = counter('ptf_events_decided_total', 'Submitted events by outcome.', ['event_type', 'outcome']);
  const commitSeconds = histogram(
    'ptf_commit_duration_seconds',
    'Time from passing a turn to the log until the turn is durable.',
    secondsBuckets,
  );
  const commitRecords = histogram('ptf_commit_records', 'Records in one durable commit.', recordsBuckets);
  const commitBytes = counter('ptf_commit_bytes_total', 'Bytes written to the log.');
  const workSeconds = histogram(
    'ptf_work_duration_seconds',
    'Duration of the work done in the worker pools.',
    workBuckets,
    ['kind', 'ok'],
  );

  const idsRefused = counter(
    'ptf_ids_refused_total',
    'Ids and names refused for forbidden characters, such as control characters or blanks at an end.',
    ['id'],
  );
  let idsRefusedTotal = 0;
  const streamReaders = new Gauge({ name: 'ptf_stream_readers', help: 'Readers of the verdict stream.', registers });
  const streamRows = counter(
    'ptf_stream_rows_total',
    'Rows of players sent to readers of the verdict stream, including those of snapshots.',
  );
  const streamEnds = counter(
    'ptf_stream_ends_total',
    'Ended readers of the verdict stream by reason; `left` means that the reader disconnected.',
    ['reason'],
  );

  const refreshGauges = registerGauges(registry, version, group);

  return {
    contentType: registry.contentType,
    async text() {
      refreshGauges();
      for (const [event_type, outcomes] of decidedSince)
        for (const [outcome, count] of outcomes) decided.inc({ event_type, outcome }, count);
      decidedSince.clear();
      return `${await registry.metrics()}\n${requests.text()}`;
    },
    traffic: () => ({
      reads: requests.latencies(readRoutes),
      events: requests.latencies(eventRoutes),
      idsRefused: idsRefusedTotal,
    }),
    requestAnswered: (route, method, status, code, ms) => requests.note(route, method, status, code, ms),
    idRefused(id) {
      idsRefusedTotal += 1;
      idsRefused.inc({ id });
    },
    streamReaders: (open) => streamReaders.set(open),
    streamSynced: (rows) => streamRows.inc(rows),
    streamEnded: (reason) => streamEnds.inc({ reason }),
    turnCommitted(records, bytes, commitMs) {
      commitRecords.observe(records);
      commitBytes.inc(bytes);
      commitSeconds.observe(commitMs / 1000);
    },
    eventsDecided(eventType, outcome, events) {
      const outcomes = getOrMake(decidedSince, eventType, () => new Map<string, number>());
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + events);
    },
    workDone(kind, ok, ms) {
      workSeconds.observe({ kind, ok: String(ok) }, ms / 1000);
    },
  };
}

/** Runs the separate HTTP server from which Prometheus reads the metrics. */
export async function startMetricsServer(
  metrics: Pick<Metrics, 'text' | 'contentType'>,
  host: string,
  port: number,
  log: Logger,
): Promise<{ readonly host: string; readonly port: number; close(): Promise<void> }> {
  const server: Server = createServer(serverBounds, (request, response) => {
    const readable = request.method === 'GET' || request.method === 'HEAD';
    if (parseTarget(request.url ?? '')?.path !== '/metrics') {
      response.writeHead(404).end();
    } else if (!readable) {
      response.writeHead(405, { Allow: 'GET, HEAD' }).end();
    } else {
      metrics.text().then(
        (text) => response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text),
        (error: unknown) => {
          log.error({ err: error }, 'the metrics could not be read');
          response.writeHead(500).end();
        },
      );
    }
  });
  const address = await listening(server, host, port);
  return {
    ...address,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Upper bounds of the histogram, in seconds. A score from memory takes less than a tenth of a millisecond. */
const bucketsS = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

const COUNT = 'ptf_http_requests_total';
const TIME = 'ptf_http_request_duration_seconds';

interface Timed {
  readonly buckets: number[];
  sumS: number;
  readonly answers: Map<string, Map<number, number>>;
}

/** Counts and times answers in nested maps: a library's look-up of labels would cost a sixth of a score read. */
export class RequestTally {
  readonly #routes = new Map<string, Map<string, Timed>>();

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
