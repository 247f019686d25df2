/** One call for a whole match, beside single score reads on bare `node:http`. */
import { startWays } from '../lanes.js';
import { hashedIds, matchKind, only, scoreKind } from '../load/requests.js';
import { type LoadOptions, measured } from '../measured.js';
import { startBareHttp } from '../peers/references.js';
import type { Report } from '../report.js';
import { stopAll } from '../target.js';
import { alternate, type Measured, rates, ratios, report } from '../windows.js';

export const match = measured('match', 'the scores of 50 players in one call', { players: 100_000 }, run);

async function run(options: LoadOptions, to: Report): Promise<void> {
  const connections = options.connections ?? 64;
  const ways = await startWays({ ...options, snapshotAfter: 1 });
  const bare = await startBareHttp();
  try {
    const { rate } = options;
    const { site, salt, target } = ways[0]!;
    const single = { name: 'read, bare node:http', target: bare, workload: only(scoreKind(site)), connections, rate };
    const matches = ways.map(({ target }) => ({
      name: `match, ${target.name}`,
      target,
      workload: only(matchKind(site)),
      connections,
      rate,
    }));
    // What the project's own client sends where it knows the group's salt: nothing is left to hash, and more to read and to send.
    const workload = only(matchKind(site, hashedIds(salt)));
    const hashed = { name: `match by subject hashes, ${target.name}`, target, workload, connections, rate };
    const [ofBare, ofHashed, ...ofWays] = await alternate('match', [single, hashed, ...matches], options.seconds);
    for (const one of [...ofWays, ofHashed!]) report(to, one, { itemUnit: 'scores/s' });
    report(to, ofBare!);
    const perBare = (one: Measured) => ratios(rates(one, true), rates(ofBare!));
    const ratio = to.figure(
      'scores/s by match calls / single GETs on bare node:http',
      'x',
      'more',
      perBare(ofWays[0]!),
    );
    to.figure('the same by subject hashes', 'x', 'more', perBare(ofHashed!));
    to.goal('50-player match call: scores/s against single GETs on bare node:http', ratio, 'at least', 12, 'x');
  } finally {
    await stopAll([bare, ...ways.map(({ target }) => target)]);
  }
}
