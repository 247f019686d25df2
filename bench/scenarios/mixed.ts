/** What game servers send on an evening: mostly single scores, some whole matches, some events. */
import { startWays } from '../lanes.js';
import { eventKind, matchKind, mixture, scoreKind } from '../load/requests.js';
import { type LoadOptions, measured, openLoopName } from '../measured.js';
import type { Report } from '../report.js';
import { median } from '../result.js';
import { stopAll } from '../target.js';
import { alternate, rates, report } from '../windows.js';

export const mixed = measured('mixed', '80 % scores, 10 % matches of 50, 10 % events', { players: 100_000 }, run);

async function run(options: LoadOptions, to: Report): Promise<void> {
  const connections = options.connections ?? 128;
  const ways = await startWays({ ...options, snapshotAfter: 1 });
  try {
    const { site } = ways[0]!;
    const parts = [
      [scoreKind(site), 80],
      [matchKind(site), 10],
      [eventKind(site), 10],
    ] as const;
    const workload = mixture(site.seed, parts);
    const series = ways.map(({ target }) => ({ target, workload, connections }));
    const startedMs = performance.now();
    const closed = await alternate(
      'mixed, as fast as it goes',
      series.map((one) => ({ ...one, name: `mixed, ${one.target.name}`, rate: null })),
      options.seconds,
      startedMs,
    );
    for (const one of closed) report(to, one);
    const rate = options.rate ?? Math.max(1, Math.round(Math.min(...closed.map((one) => median(rates(one)))) / 2));
    const what = openLoopName('mixed', options);
    to.figure(`${what}: rate`, 'req/s', 'more', rate);
    const open = await alternate(
      `${what}, ${rate} a second`,
      series.map((one) => ({ ...one, name: `${what}, ${one.target.name}`, rate })),
      options.seconds,
      startedMs,
    );
    for (const one of open) report(to, one);
  } finally {
    await stopAll(ways.map(({ target }) => target));
  }
}
