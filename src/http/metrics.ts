/**
 * What the node counts on its way, and the text that Prometheus reads. Labels are route templates, statuses and codes; never
 * an id, which would be a leak and a label set without bound. What is read at a scrape stands in `gauges.ts`.
 */
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import type { GroupObserver } from '../group/ports.js';
import type { RequestObserver } from './deps.js';
import { type Gauges, gaugesOf } from './gauges.js';

export interface Metrics extends GroupObserver, RequestObserver, Pick<Gauges, 'watch'> {
  /** Prometheus text, taken now. */
  text(): Promise<string>;
  readonly contentType: string;
}

const secondsBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** Work of the pools runs from a listing's milliseconds to a computation that is ended as hanging. */
const workBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const recordsBuckets = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000];

/** What `make` gave for the same labels before: labels are few, and prom-client hashes them at each call. */
function kept<L extends readonly (string | number)[], C>(make: (...labels: L) => C): (...labels: L) => C {
  const children = new Map<string, C>();
  return (...labels) => {
    const key = labels.join(' ');
    let child = children.get(key);
    if (child === undefined) {
      child = make(...labels);
      children.set(key, child);
    }
    return child;
  };
}

/** `version` is this release. */
export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const requests = new Counter({
    name: 'ptf_http_requests_total',
    help: 'Answers on the public port.',
    labelNames: ['route', 'method', 'status', 'code'],
    registers,
  });
  const requestSeconds = new Histogram({
    name: 'ptf_http_request_duration_seconds',
    help: 'From the arrival of the head to the answer.',
    labelNames: ['route', 'method'],
    buckets: secondsBuckets,
    registers,
  });
  const decided = new Counter({
    name: 'ptf_events_decided_total',
    help: 'Submitted events by what became of them.',
    labelNames: ['event_type', 'outcome'],
    registers,
  });
  const commitSeconds = new Histogram({
    name: 'ptf_commit_duration_seconds',
    help: 'From handing a turn to the log until it is durable.',
    buckets: secondsBuckets,
    registers,
  });
  const commitRecords = new Histogram({
    name: 'ptf_commit_records',
    help: 'Records in one durable commit.',
    buckets: recordsBuckets,
    registers,
  });
  const commitBytes = new Counter({ name: 'ptf_commit_bytes_total', help: 'Bytes written to the log.', registers });
  const workSeconds = new Histogram({
    name: 'ptf_work_duration_seconds',
    help: 'Work done in the pools.',
    labelNames: ['kind', 'ok'],
    buckets: workBuckets,
    registers,
  });

  const countedOf = kept((route: string, method: string, status: number, code: string) =>
    requests.labels({ route, method, status, code }),
  );
  const timedOf = kept((route: string, method: string) => requestSeconds.labels({ route, method }));
  const decidedOf = kept((event_type: string, outcome: string) => decided.labels({ event_type, outcome }));

  const gauges = gaugesOf(registry, version);

  return {
    contentType: registry.contentType,
    watch: gauges.watch,
    async text() {
      gauges.refresh();
      return registry.metrics();
    },
    requestAnswered(route, method, status, code, ms) {
      countedOf(route, method, status, code).inc();
      timedOf(route, method).observe(ms / 1000);
    },
    turnCommitted(records, bytes, commitMs) {
      commitRecords.observe(records);
      commitBytes.inc(bytes);
      commitSeconds.observe(commitMs / 1000);
    },
    eventDecided(eventType, outcome) {
      decidedOf(eventType, outcome).inc();
    },
    workDone(kind, ok, ms) {
      workSeconds.observe({ kind, ok: String(ok) }, ms / 1000);
    },
  };
}
