/** Events one by one, each answered when it is durable: at many connections and at one, beside a server that stores nothing. */
import { startWays } from '../lanes.js';
import { eventKind, only } from '../load/requests.js';
import { type LoadOptions, measured } from '../measured.js';
import { startBareHttp } from '../peers/references.js';
import type { Report } from '../report.js';
import { expectStored } from '../stored.js';
import { stopAll } from '../target.js';
import { alternate, rates, ratios, report } from '../windows.js';

const many = 256;

export const ingest = measured('ingest', 'durable events one by one, beside bare node:http', { players: 100_000 }, run);

async function run(options: LoadOptions, to: Report): Promise<void> {
  const ways = await startWays({ ...options, snapshotAfter: 1 });
  const bare = await startBareHttp();
  const connections = options.connections ?? many;
  try {
    const { rate } = options;
    const series = [bare, ...ways.map(({ target }) => target)].map((target) => ({
      name: `events at ${connections} connections, ${target.name}`,
      target,
      workload: only(eventKind(ways[0]!.site)),
      connections,
      rate,
    }));
    const atMany = await alternate('ingest', series, options.seconds);
    for (const one of atMany) report(to, one);
    const ratio = to.figure(
      'durable events, node / bare node:http that stores nothing',
      'x',
      'more',
      ratios(rates(atMany[1]!), rates(atMany[0]!)),
    );
    const one = series.slice(1).map((given) => ({
      ...given,
      name: `events at 1 connection, ${given.target.name}`,
      connections: 1,
      rate: null,
    }));
    const atOne = await alternate('ingest, one at a time', one, options.seconds);
    for (const found of atOne) report(to, found);
    for (const way of ways) await expectStored(way, to);
    to.goal('durable POST at 256 connections against bare node:http that stores nothing', ratio, 'at least', 0.65, 'x');
  } finally {
    await stopAll([bare, ...ways.map(({ target }) => target)]);
  }
}
