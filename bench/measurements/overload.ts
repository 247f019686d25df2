/**
 * Sends more events than the node can process. The node must continue at its full rate, refuse the rest quickly with
 * `Retry-After`, and keep its memory within a bound.
 */
import type { Kind } from '../load/drive.js';
import { batchEvents, batchKind, mixture, only, scoreKind } from '../load/requests.js';
import { anonymousMbOf, peakMemory } from '../process-stats.js';
import { measured } from '../run.js';
import { median } from '../statistics.js';
import { bytesPerEvent } from '../stored.js';
import { measuredOf, rates, report, type Window } from '../windows.js';

/** Each connection sends 500 events: together several times the capacity of the mailbox. */
const manyConnections = 512;
/** Enough for a calm node, and each is used again before the node closes it as idle. */
const calmConnections = 64;
/** In a closed loop, these connections keep the node busy and its queue short. */
const fewConnections = 4;
const overFactor = 4;
/** Share of its capacity at which a node is calm. */
const calmShare = 0.25;
/**
 * Memory that an overload may add to the stored data: a full mailbox (64 MiB, as text and as parsed events), the bodies
 * in flight, and the garbage of both.
 */
const overloadMbMax = 256;
const unavailable = 503;
const memorySampleMs = 100;

export const overload = measured({
  name: 'overload',
  summary: 'four times as many events as the node can take',
  players: 100_000,
  // The burst at the start of the overload is more than one in a hundred answers of ten seconds.
  seconds: 30,
  async measure(run) {
    const to = run.report;
    const { seconds } = run.options;
    const { target, site } = await run.node();
    const atCapacity = {
      name: 'batches, as many as it takes',
      target,
      workload: only(batchKind(site)),
      connections: fewConnections,
      rate: null,
      // A node on a busy machine may refuse here too.
      tolerant: true,
    };
    const [capacity] = await run.alternate('capacity', [{ ...atCapacity, itemUnit: 'events/s' }]);
    const capacityRate = median(rates(capacity));

    // Half of the requests read scores, because readers exist in an overload too.
    const refusable: Kind = { ...batchKind(site), expects: [200, unavailable] };
    const workload = mixture(site.seed, [refusable, 50], [scoreKind(site), 50]);
    const loaded = (what: string, rate: number, connections: number): Promise<Window> => {
      const name = `batches and scores, ${what}`;
      to.figure(`${name}: rate`, 'req/s', 'more', rate);
      return run.window({ name, target, workload, connections, rate }, seconds, Math.min(2, seconds / 5));
    };
    const memory = peakMemory(() => anonymousMbOf(target.pids[0]!), memorySampleMs);
    const calm = await loaded('calm', Math.max(1, Math.ceil(2 * calmShare * capacityRate)), calmConnections);
    const calmMb = memory.take();
    const rate = run.options.rate ?? Math.max(1, Math.ceil(2 * overFactor * capacityRate));
    const over = await loaded('overload', rate, run.options.connections ?? manyConnections);
    const overMb = memory.end();

    const [calmBatches, overBatches] = [calm.driven.kinds[0]!, over.driven.kinds[0]!];
    const perSecond = (status: number) => (overBatches.inTime.get(status) ?? 0) / over.driven.seconds;
    const calmMs = to.figure('calm: p99 of batches', 'ms', 'less', calmBatches.latencies.ms(99));
    const overMs = to.figure('overload: p99 of batches stored', 'ms', 'less', overBatches.latencies.ms(99));
    const refusedMs = to.figure('overload: p99 of batches refused', 'ms', 'less', overBatches.refusals.ms(99));
    to.figure('batches refused under overload', 'req/s', 'less', perSecond(unavailable));
    const stored = to.figure('batches stored under overload', 'req/s', 'more', perSecond(200));
    to.figure('batches stored under overload / at capacity', 'x', 'more', stored / capacityRate);

    const after = { ...atCapacity, name: 'batches, after the overload' };
    const recovered = measuredOf(after, [await run.drive(after, Math.max(0.2, seconds / 5))]);
    report(to, recovered);
    to.figure('after the overload / before', 'x', 'more', median(rates(recovered)) / capacityRate);
    to.figure('calm: anonymous memory, at most', 'MB', 'less', calmMb);
    to.figure('overload: anonymous memory, at most', 'MB', 'less', overMb);
    const silent = over.driven.kinds.reduce((sum, { withoutRetryAfter }) => sum + withoutRetryAfter, 0);
    const storedMb = ((overBatches.statuses.get(200) ?? 0) * batchEvents * bytesPerEvent) / 1e6;
    const grownMb = overMb - calmMb - storedMb;
    const figure = 'overload: anonymous memory, beyond that of a calm node and what is stored';
    to.rule(figure, grownMb, 'at most', overloadMbMax, ' MB');
    to.rule('answers of 503 without Retry-After', silent, 'at most', 0, '');
    const [calmReads, overReads] = [calm.driven.kinds[1]!, over.driven.kinds[1]!];
    const served = (overReads.statuses.get(200) ?? 0) / [...overReads.statuses.values()].reduce((a, b) => a + b, 0);
    const slower = overReads.latencies.ms(99) / calmReads.latencies.ms(99);
    to.goal('success of reads under overload', 100 * served, 'at least', 99, ' %');
    to.goal('p99 of reads under overload against calm', slower, 'at most', 3, 'x');
    to.goal('p99 of batches stored under overload against calm', overMs / calmMs, 'at most', 3, 'x');
    to.goal('p99 of batches refused under overload against calm ones stored', refusedMs / calmMs, 'at most', 3, 'x');
  },
});
