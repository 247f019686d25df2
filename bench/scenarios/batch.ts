/** Events in batches of 500, beside the same node taking them one by one. */
import { batchKind, eventKind, only } from '../load/requests.js';
import { type LoadOptions, measured } from '../measured.js';
import { startFilled } from '../node-target.js';
import type { Report } from '../report.js';
import { expectStored } from '../stored.js';
import { alternate, rates, ratios, report } from '../windows.js';

export const batch = measured(
  'batch',
  'durable events in batches of 500, beside single ones',
  { players: 100_000 },
  run,
);

async function run(options: LoadOptions, to: Report): Promise<void> {
  const running = await startFilled('node', { ...options, snapshotAfter: 1 });
  const { target, site } = running;
  try {
    const { rate } = options;
    const [single, batches] = await alternate(
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
          name: `batches of 500 at ${options.connections ?? 8} connections`,
          target,
          workload: only(batchKind(site)),
          connections: options.connections ?? 8,
          rate,
        },
      ],
      options.seconds,
    );
    report(to, single!);
    report(to, batches!, { itemUnit: 'events/s' });
    await expectStored(running, to);
    const ratio = ratios(rates(batches!, true), rates(single!));
    const figure = to.figure('durable events/s, batches / one by one', 'x', 'more', ratio);
    to.goal('batch of 500 events: durable events/s against single POSTs', figure, 'at least', 5, 'x');
  } finally {
    await target.stop();
  }
}
