/** One call for a whole match, beside single score reads on bare `node:http`. */
import { startWays } from '../lanes.js';
import { matchKind, only, scoreKind } from '../load/requests.js';
import { type LoadOptions, measured } from '../measured.js';
import { startBareHttp } from '../peers/references.js';
import type { Report } from '../report.js';
import { stopAll } from '../target.js';
import { alternate, rates, ratios, report } from '../windows.js';

export const match = measured('match', 'the scores of 50 players in one call', { players: 100_000 }, run);

async function run(options: LoadOptions, to: Report): Promise<void> {
  const connections = options.connections ?? 64;
  const ways = await startWays({ ...options, snapshotAfter: 1 });
  const bare = await startBareHttp();
  try {
    const { rate } = options;
    const { site } = ways[0]!;
    const single = { name: 'read, bare node:http', target: bare, workload: only(scoreKind(site)), connections, rate };
    const matches = ways.map(({ target }) => ({
      name: `match, ${target.name}`,
      target,
      workload: only(matchKind(site)),
      connections,
      rate,
    }));
    const [ofBare, ...ofWays] = await alternate('match', [single, ...matches], options.seconds);
    report(to, ofBare!);
    for (const one of ofWays) report(to, one, { itemUnit: 'scores/s' });
    const scores = ratios(rates(ofWays[0]!, true), rates(ofBare!));
    const ratio = to.figure('scores/s by match calls / single GETs on bare node:http', 'x', 'more', scores);
    to.goal('50-player match call: scores/s against single GETs on bare node:http', ratio, 'at least', 12, 'x');
  } finally {
    await stopAll([bare, ...ways.map(({ target }) => target)]);
  }
}
