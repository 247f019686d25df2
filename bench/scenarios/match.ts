/** Compares one call for a whole match with single score reads on bare `node:http`. */
import { hashedIds, matchKind, only, scoreKind } from '../load/requests.js';
import { startBareHttp } from '../peers/references.js';
import { measured } from '../run.js';
import { alternate, type Measured, report } from '../windows.js';

export const match = measured({
  name: 'match',
  summary: 'the scores of 50 players in one call',
  players: 100_000,
  async measure(run) {
    const ways = await run.bothWays();
    const bareHttp = run.use(await startBareHttp());
    const { site, salt, target } = ways[0];
    const load = { connections: run.options.connections ?? 64, rate: run.options.rate };
    // The project's own client sends subject hashes if it knows the group's salt, so that the node need not hash.
    const byHash = only(matchKind(site, hashedIds(salt)));
    const [bare, hashed, node, allKoa] = (await alternate(
      'match',
      [
        { ...load, name: 'read, bare node:http', target: bareHttp, workload: only(scoreKind(site)) },
        { ...load, name: `match by subject hashes, ${target.name}`, target, workload: byHash },
        ...ways.map((way) => ({
          ...load,
          name: `match, ${way.target.name}`,
          target: way.target,
          workload: only(matchKind(site)),
        })),
      ],
      run.options.seconds,
      run.startedMs,
    )) as [Measured, Measured, Measured, Measured];
    for (const one of [node, allKoa, hashed]) report(run.report, one, { itemUnit: 'scores/s' });
    report(run.report, bare);
    const ratio = run.rateRatio('scores/s by match calls / single GETs on bare node:http', node, bare, true);
    run.rateRatio('the same by subject hashes', hashed, bare, true);
    run.report.goal('50-player match call: scores/s against single GETs on bare node:http', ratio, 'at least', 12, 'x');
  },
});
