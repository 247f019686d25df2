/**
 * Measures single events, each answered when it is durable: at many connections and at one, beside a server that stores
 * nothing.
 */
import { eventKind, only } from '../load/requests.js';
import { startBareHttp } from '../peers/references.js';
import { measured } from '../run.js';
import { expectStored } from '../stored.js';
import type { Measured } from '../windows.js';

export const ingest = measured({
  name: 'ingest',
  summary: 'durable events one by one, beside bare node:http',
  players: 100_000,
  async measure(run) {
    const ways = await run.bothWays();
    const nodes = ways.map(({ target }) => target);
    const bareHttp = run.use(await startBareHttp());
    const { connections, rate } = { ...run.options, connections: run.options.connections ?? 256 };
    const workload = only(eventKind(ways[0].site));
    const what = `events at ${connections} connections`;
    const load = { workload, connections, rate };
    const [bare, node] = (await run.compare(what, [bareHttp, ...nodes], load)) as [Measured, Measured];
    const ratio = run.rateRatio('durable events, node / bare node:http that stores nothing', node, bare);
    await run.compare('events at 1 connection', nodes, { workload, connections: 1, rate: null });
    for (const way of ways) await expectStored(way, run.report);
    const goal = 'durable POST at 256 connections against bare node:http that stores nothing';
    run.report.goal(goal, ratio, 'at least', 0.65, 'x');
  },
});
