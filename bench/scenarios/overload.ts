/**
 * More events than the node can take: it must go on at its full rate, refuse the rest quickly with word of when to try again, and keep its
 * memory.
 */
import type { Kind } from '../load/drive.js';
import { at, type Latencies } from '../load/latency.js';
import { batchEvents, batchKind, mixture, only, scoreKind } from '../load/requests.js';
import { type LoadOptions, measured } from '../measured.js';
import { startFilled } from '../node-target.js';
import { anonymousMbOf } from '../process-stats.js';
import type { Report } from '../report.js';
import { median } from '../result.js';
import { bytesPerEvent } from '../state-bytes.js';
import { alternate, awaitLoopSamples, driveWindow, measuredOf, rates, report, type Window } from '../windows.js';

/** Each carries 500 events: together they are several times what the mailbox holds. */
const manyConnections = 512;
/** Enough for a calm node, and each in use more often than the node closes those that rest. */
const calmConnections = 64;
/** In a closed loop: they keep the node busy and its queue short. */
const fewConnections = 4;
const overFactor = 4;
/** Share of its capacity at which a node is calm. */
const calmShare = 0.25;
/**
 * What a node may take for an overload beyond what it stores: a full mailbox (64 MiB, as texts and as what was read from them), the bodies
 * that arrive, and the garbage of both.
 */
const overloadMbMax = 256;
/** Refused for now, with `Retry-After`. */
const overloaded = 503;

export const overload = measured(
  'overload',
  'four times as many events as the node can take',
  // The burst that a calm node takes as the overload begins is over one in a hundred of ten seconds' answers.
  { players: 100_000, seconds: 30 },
  run,
);

async function run(options: LoadOptions, to: Report): Promise<void> {
  const { target, site } = await startFilled('node', { ...options, snapshotAfter: 1 });
  try {
    const startedMs = performance.now();
    const batches = only(batchKind(site));
    const atCapacity = {
      name: 'batches, as many as it takes',
      target,
      workload: batches,
      connections: fewConnections,
      rate: null,
    };
    const [capacity] = await alternate('capacity', [atCapacity], options.seconds, startedMs);
    // A machine that other work keeps busy may refuse here, too.
    report(to, capacity!, { itemUnit: 'events/s', tolerant: true });
    const taken = median(rates(capacity!));

    // Half of the requests are scores: readers are there in an overload, too.
    const refusable: Kind = { ...batchKind(site), expects: [200, overloaded] };
    const workload = mixture(site.seed, [
      [refusable, 50],
      [scoreKind(site), 50],
    ]);
    const loaded = async (what: string, rate: number, connections: number) => {
      const name = `batches and scores, ${what}`;
      to.figure(`${name}: rate`, 'req/s', 'more', rate);
      const series = { name, target, workload, connections, rate };
      await driveWindow(series, Math.min(2, options.seconds / 5), startedMs);
      const window = await driveWindow(series, options.seconds, startedMs);
      await awaitLoopSamples(target);
      report(to, measuredOf(series, [window]));
      return window;
    };
    const memory = new PeakMemory(target.pids[0]!);
    const calm = await loaded('calm', Math.max(1, Math.ceil(2 * calmShare * taken)), calmConnections);
    const calmMb = memory.take();
    const rate = options.rate ?? Math.max(1, Math.ceil(2 * overFactor * taken));
    const over = await loaded('overload', rate, options.connections ?? manyConnections);
    const overMb = memory.end();
    const [calmMs, overMs] = [p99Ms(calm), p99Ms(over)];
    to.figure('calm: p99 of batches', 'ms', 'less', calmMs);
    to.figure('overload: p99 of batches stored', 'ms', 'less', overMs);
    const refusedMs = to.figure(
      'overload: p99 of batches refused',
      'ms',
      'less',
      msAt99(over.driven.kinds[0]!.refusals),
    );
    to.figure('batches refused under overload', 'req/s', 'less', answersWith(over, overloaded));
    const stored = to.figure('batches stored under overload', 'req/s', 'more', answersWith(over, 200));
    to.figure('batches stored under overload / at capacity', 'x', 'more', stored / taken);

    const after = { ...atCapacity, name: 'batches, after the overload' };
    const recovered = measuredOf(after, [await driveWindow(after, Math.max(0.2, options.seconds / 5), startedMs)]);
    report(to, recovered, { tolerant: true });
    to.figure('after the overload / before', 'x', 'more', median(rates(recovered)) / taken);
    to.figure('calm: memory that is no file, at most', 'MB', 'less', calmMb);
    to.figure('overload: memory that is no file, at most', 'MB', 'less', overMb);
    const silent = over.driven.kinds.reduce((sum, { withoutRetryAfter }) => sum + withoutRetryAfter, 0);
    const storedMb = ((over.driven.kinds[0]!.statuses.get(200) ?? 0) * batchEvents * bytesPerEvent) / 1e6;
    to.rule(
      'overload: memory that is no file, beyond that of a calm node and what is stored',
      overMb - calmMb - storedMb,
      'at most',
      overloadMbMax,
      ' MB',
    );
    to.rule('answers of 503 without Retry-After', silent, 'at most', 0, '');
    to.goal('p99 of batches stored under overload against calm', overMs / calmMs, 'at most', 3, 'x');
    // At once: sooner than a batch that is stored may take.
    to.goal('p99 of batches refused under overload against calm ones stored', refusedMs / calmMs, 'at most', 3, 'x');
  } finally {
    await target.stop();
  }
}

/** The most memory of a process that is no file's, looked at ten times a second. */
class PeakMemory {
  #mb = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly pid: number) {
    this.#timer = setInterval(() => this.#look(), 100);
  }

  #look(): void {
    this.#mb = Math.max(this.#mb, anonymousMbOf(this.pid));
  }

  /** The most since the last call, or the start. */
  take(): number {
    this.#look();
    const mb = this.#mb;
    this.#mb = 0;
    return mb;
  }

  end(): number {
    clearInterval(this.#timer);
    return this.take();
  }
}

/** Of the batches that were stored. */
function p99Ms({ driven }: Window): number {
  return msAt99(driven.kinds[0]!.latencies);
}

function msAt99(latencies: Latencies): number {
  return at(latencies.summary(), 99) / 1000;
}

/** Batches a second that got this status in time. */
function answersWith({ driven }: Window, status: number): number {
  return (driven.kinds[0]!.inTime.get(status) ?? 0) / driven.seconds;
}
