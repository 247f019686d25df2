/** Compares score reads, one by one and by whole matches, with bare `node:http`. */
import { hashedIds, matchKind, scoreKind } from '../load/requests.js';
import { startBareHttp } from '../peers/references.js';
import { measured } from '../run.js';
import { median, ratios } from '../statistics.js';
import { p99MsOf, rates } from '../windows.js';

export const read = measured({
  name: 'read',
  summary: 'score reads, beside bare node:http',
  players: 100_000,
  async measure(run) {
    const [fast, allKoa] = await run.bothWays();
    const targets = [run.use(await startBareHttp()), fast.target, allKoa.target] as const;
    const load = run.load(scoreKind(fast.site), 64, null);
    const [bare, node] = await run.compare('read', targets, load);
    const ratio = run.rateRatio('read, node / bare node:http', node, bare);

    const [openBare, openNode] = await run.compareAtHalfLoad('read', targets, median(rates(bare)), load);
    const slower = ratios(openNode.windows.map(p99MsOf), openBare.windows.map(p99MsOf));
    const p99Ratio = run.report.figure('p99 at half load, node / bare node:http', 'x', 'less', slower);

    run.report.goal('GET score against bare node:http, req/s', ratio, 'at least', 0.95, 'x', 0.85);
    run.report.goal('GET score against bare node:http, p99 at half load', p99Ratio, 'at most', 1.2, 'x');
  },
});

export const match = measured({
  name: 'match',
  summary: 'the scores of 50 players in one call',
  players: 100_000,
  async measure(run) {
    const [fast, allKoa] = await run.bothWays();
    const target = run.use(await startBareHttp());
    const { site, salt } = fast;
    const ofMatches = { ...run.load(matchKind(site), 64), itemUnit: 'scores/s' };
    // The project's own client sends subject hashes if it knows the group's salt, so that the node need not hash.
    const byHash = { ...run.load(matchKind(site, hashedIds(salt)), 64), itemUnit: 'scores/s' };
    const [bare, hashed, node] = await run.alternate('match', [
      { ...run.load(scoreKind(site), 64), name: 'read, bare node:http', target },
      { ...byHash, name: 'match by subject hashes, node', target: fast.target },
      { ...ofMatches, name: 'match, node', target: fast.target },
      { ...ofMatches, name: 'match, node, all Koa', target: allKoa.target },
    ]);
    const ratio = run.rateRatio('scores/s by match calls / single GETs on bare node:http', node, bare, true);
    run.rateRatio('the same by subject hashes', hashed, bare, true);
    const goal = '50-player match call: scores/s against single GETs on bare node:http';
    run.report.goal(goal, ratio, 'at least', 12, 'x', 14);
  },
});
