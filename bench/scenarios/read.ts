/** Score reads: as many as the node answers, and how long one takes at half of what bare `node:http` can do. */
import { startWays } from '../lanes.js';
import { at } from '../load/latency.js';
import { only, scoreKind } from '../load/requests.js';
import { type LoadOptions, measured, openLoopName } from '../measured.js';
import { startBareHttp } from '../peers/references.js';
import type { Report } from '../report.js';
import { median } from '../result.js';
import { stopAll } from '../target.js';
import { alternate, rates, ratios, report } from '../windows.js';

const saturating = 64;

export const read = measured('read', 'score reads, beside bare node:http', { players: 100_000 }, run);

async function run(options: LoadOptions, to: Report): Promise<void> {
  const connections = options.connections ?? saturating;
  const ways = await startWays({ ...options, snapshotAfter: 1 });
  const bare = await startBareHttp();
  try {
    const workload = only(scoreKind(ways[0]!.site));
    const series = [bare, ...ways.map(({ target }) => target)].map((target) => ({ target, workload, connections }));
    const startedMs = performance.now();
    const closed = await alternate(
      'read, as fast as it goes',
      series.map((one) => ({ ...one, name: `read, ${one.target.name}`, rate: null })),
      options.seconds,
      startedMs,
    );
    for (const one of closed) report(to, one);
    const [ofBare, ofNode] = closed.map((one) => rates(one));
    const ratio = to.figure('read, node / bare node:http', 'x', 'more', ratios(ofNode!, ofBare!));

    const rate = options.rate ?? Math.max(1, Math.round(median(ofBare!) / 2));
    const what = openLoopName('read', options);
    to.figure(`${what}: rate`, 'req/s', 'more', rate);
    const open = await alternate(
      `${what}, ${rate} a second`,
      series.map((one) => ({ ...one, name: `${what}, ${one.target.name}`, rate })),
      options.seconds,
      startedMs,
    );
    for (const one of open) report(to, one);
    const [p99Bare, p99Node] = open.map(({ windows }) =>
      windows.map(({ driven }) => p99Of(driven.kinds[0]!.latencies)),
    );
    const p99Ratio = to.figure('p99 at half load, node / bare node:http', 'x', 'less', ratios(p99Node!, p99Bare!));

    to.goal('GET score against bare node:http, req/s', ratio, 'at least', 0.95, 'x');
    to.goal('GET score against bare node:http, p99 at half load', p99Ratio, 'at most', 1.2, 'x');
  } finally {
    await stopAll([bare, ...ways.map(({ target }) => target)]);
  }
}

function p99Of(latencies: { summary(): Parameters<typeof at>[0] }): number {
  return at(latencies.summary(), 99);
}
