/** More events than the node can take: it must go on at its full rate, refuse the rest quickly, and keep its memory. */

import type { Kind } from '../load/drive.js';
import { batchKind, mixture, only, scoreKind } from '../load/requests.js';
import { type LoadOptions, measured } from '../measured.js';
import { startFilled } from '../node-target.js';
import type { Report } from '../report.js';
import { median } from '../result.js';
import { alternate, driveWindow, measuredOf, rates, report, type Window } from '../windows.js';

/** Each carries 500 events: together they are several times what the mailbox holds. */
const manyConnections = 512;
const overFactor = 3;
/** Refused for now, with `Retry-After`. */
const overloaded = 503;

export const overload = measured(
  'overload',
  'three times as many events as the node can take',
  { players: 100_000 },
  run,
);

async function run(options: LoadOptions, to: Report): Promise<void> {
  const { target, site } = await startFilled('node', { ...options, snapshotAfter: 1 });
  try {
    const startedMs = performance.now();
    const batches = only(batchKind(site));
    const atCapacity = { name: 'batches, as many as it takes', target, workload: batches, connections: 8, rate: null };
    const [capacity] = await alternate('capacity', [atCapacity], options.seconds, startedMs);
    report(to, capacity!, { itemUnit: 'events/s' });
    const taken = median(rates(capacity!));

    // Half of the requests are scores: readers are there in an overload, too.
    const rate = options.rate ?? Math.max(1, Math.ceil(2 * overFactor * taken));
    const refusable: Kind = { ...batchKind(site), expects: [200, overloaded] };
    const over = {
      name: `overload, ${rate} batches and scores a second`,
      target,
      workload: mixture(site.seed, [
        [refusable, 50],
        [scoreKind(site), 50],
      ]),
      connections: options.connections ?? manyConnections,
      rate,
    };
    // One window: a queue grows for as long as the overload lasts.
    const under = await driveWindow(over, options.seconds, startedMs);
    report(to, measuredOf(over, [under]));
    const kept = to.figure('batches stored under overload', 'req/s', 'more', answersWith(under, 200)) / taken;
    to.figure('batches refused under overload', 'req/s', 'less', answersWith(under, overloaded));
    to.figure('batches stored under overload / at capacity', 'x', 'more', kept);

    const after = { ...atCapacity, name: 'batches, after the overload' };
    const recovered = measuredOf(after, [await driveWindow(after, Math.max(0.2, options.seconds / 5), startedMs)]);
    report(to, recovered);
    to.figure('after the overload / before', 'x', 'more', median(rates(recovered)) / taken);
  } finally {
    await target.stop();
  }
}

/** Batches a second that got this status in time. */
function answersWith({ driven }: Window, status: number): number {
  return (driven.kinds[0]!.inTime.get(status) ?? 0) / driven.seconds;
}
