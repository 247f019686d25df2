/** Compares events in batches of 500 with single events on the same node. */
import { batchKind, eventKind, only } from '../load/requests.js';
import { measured } from '../run.js';
import { expectStored } from '../stored.js';
import { alternate, type Measured, report } from '../windows.js';

export const batch = measured({
  name: 'batch',
  summary: 'durable events in batches of 500, beside single ones',
  players: 100_000,
  async measure(run) {
    const node = await run.node();
    const { target, site } = node;
    const { rate, seconds } = run.options;
    const connections = run.options.connections ?? 8;
    const [single, batches] = (await alternate(
      'batch',
      [
        {
          name: 'events one by one at 256 connections',
          target,
          workload: only(eventKind(site)),
          connections: 256,
          rate,
        },
        {
          name: `batches of 500 at ${connections} connections`,
          target,
          workload: only(batchKind(site)),
          connections,
          rate,
        },
      ],
      seconds,
      run.startedMs,
    )) as [Measured, Measured];
    report(run.report, single);
    report(run.report, batches, { itemUnit: 'events/s' });
    await expectStored(node, run.report);
    const ratio = run.rateRatio('durable events/s, batches / one by one', batches, single, true);
    run.report.goal('batch of 500 events: durable events/s against single POSTs', ratio, 'at least', 5, 'x');
  },
});
