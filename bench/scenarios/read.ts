/** Measures score reads: the throughput of the node, and the latency at half the throughput of bare `node:http`. */
import { at } from '../load/latency.js';
import { only, scoreKind } from '../load/requests.js';
import { startBareHttp } from '../peers/references.js';
import { measured } from '../run.js';
import { median, ratios } from '../statistics.js';
import { type Measured, rates } from '../windows.js';

export const read = measured({
  name: 'read',
  summary: 'score reads, beside bare node:http',
  players: 100_000,
  async measure(run) {
    const ways = await run.bothWays();
    const targets = [run.use(await startBareHttp()), ...ways.map(({ target }) => target)];
    const load = { workload: only(scoreKind(ways[0].site)), connections: run.options.connections ?? 64 };
    const [bare, node] = (await run.compare('read', targets, { ...load, rate: null })) as [Measured, Measured];
    const ratio = run.rateRatio('read, node / bare node:http', node, bare);

    const open = await run.compareAtHalfLoad('read', targets, median(rates(bare)), load);
    const [bareP99, nodeP99] = open.map(({ windows }) =>
      windows.map(({ driven }) => at(driven.kinds[0]!.latencies.summary(), 99)),
    ) as [number[], number[]];
    const figure = 'p99 at half load, node / bare node:http';
    const p99Ratio = run.report.figure(figure, 'x', 'less', ratios(nodeP99, bareP99));

    run.report.goal('GET score against bare node:http, req/s', ratio, 'at least', 0.95, 'x');
    run.report.goal('GET score against bare node:http, p99 at half load', p99Ratio, 'at most', 1.2, 'x');
  },
});
