/**
 * Owns the counters and histograms of the node and renders the text for Prometheus. Labels are route templates,
 * statuses and codes; never ids, which would be a leak and an unbounded label set.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { routes } from '../../contract/routes.js';
import type { GroupObserver, Traffic } from '../../group/ports/observer.js';
import type { RequestObserver } from '../deps.js';
import { registerGauges, type WatchedGroup } from './gauges.js';
import { RequestTally } from './request-tally.js';

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
    requestAnswered(route, method, status, code, ms) {
      requests.note(route, method, status, code, ms);
    },
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
      const outcomes = decidedSince.get(eventType) ?? new Map<string, number>();
      if (outcomes.size === 0) decidedSince.set(eventType, outcomes);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + events);
    },
    workDone(kind, ok, ms) {
      workSeconds.observe({ kind, ok: String(ok) }, ms / 1000);
    },
  };
}
