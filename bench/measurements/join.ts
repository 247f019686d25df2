/**
 * Measures how long a node without data takes to join a large group, beside its restart, and how much slower the reads
 * of the node that sends its data are meanwhile. The joining node runs with the lowest priority, because in a group it
 * has a machine of its own.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { nodeVariables } from '../cluster/node-group.js';
import { freePorts } from '../free-ports.js';
import { repeatCall } from '../load/latency.js';
import { hashedIds } from '../load/requests.js';
import { filledNode, settled } from '../node-target.js';
import { OwnNode } from '../own-node.js';
import { measured } from '../run.js';
import { secondsOf } from '../until.js';
import { etcdQuota, startEtcd } from './cluster.js';

const snapshotAfter = 0.95;
const joinsMax = 3;
const readPauseMs = 5;
/** A prime, so that the reads spread over all players. */
const stride = 7_919;
/** Part of the time of the run for the reads before each join. */
const calmPart = 0.1;

export const join = measured({
  name: 'join',
  summary: 'a node without data joins a group, beside a restart, and readers of the other node meanwhile',
  players: 1_000_000,
  seconds: 60,
  async measure(run) {
    const to = run.report;
    const etcd = await startEtcd(run);
    if (etcd === null) return;
    const { node: filled, salt } = await filledNode({ ...run.options, snapshotAfter });
    run.use(filled);
    const [donorPort, joinerPort] = (await freePorts(2)) as [number, number];
    const clustered = (nodeId: string, port: number, isElsewhere: boolean, more = {}) => {
      const identity = { nodeId, url: `http://127.0.0.1:${port}`, endpoints: etcd.endpoints };
      const group = { GROUP_ID: 'local', GROUP_SALT: salt, HALF_LIFE_DAYS: '3650', LOG_LEVEL: 'info' };
      const variables = { ...nodeVariables(identity), ...etcdQuota, ...group, ...more };
      return new OwnNode(variables, { port, isElsewhere });
    };
    const donor = run.use(clustered('donor', donorPort, false, { DATA_DIR: filled.dataDir }));
    await donor.operate('import-data', '--data-dir', filled.dataDir);
    await donor.start();
    // It computes the peer weights first.
    await settled(donor);
    const idOf = hashedIds(salt);
    const joins: number[] = [];
    const restarts: number[] = [];
    const slower: number[] = [];
    const giveUpMs = performance.now() + run.options.seconds * 1000;
    do {
      const joiner = run.use(clustered('joiner', joinerPort, true));
      const calm = readsOf(donor.url, idOf, run.options.players);
      await delay(run.options.seconds * 1000 * calmPart);
      const calmMs = await calm();
      const busy = readsOf(donor.url, idOf, run.options.players);
      joins.push(await secondsOf(() => joiner.start()));
      slower.push((await busy()) / calmMs);
      await joiner.kill();
      restarts.push(await secondsOf(() => joiner.start()));
      await joiner.stop();
    } while (joins.length < joinsMax && performance.now() < giveUpMs);
    const joinS = to.figure('join until healthy', 's', 'less', joins);
    const restartS = to.figure('restart until healthy', 's', 'less', restarts);
    to.goal('join of a node against its restart', joinS / restartS, 'at most', 2, 'x');
    const ratio = to.figure("p99 of the donor's reads during a join, against before", 'x', 'less', slower);
    to.goal("p99 of the other node's reads during a join", ratio, 'at most', 1.5, 'x');
  },
});

/** Reads players of a node, one after the other. */
function readsOf(url: string, idOf: (n: number) => string, players: number): () => Promise<number> {
  let n = 0;
  return repeatCall(async () => {
    const startedMs = performance.now();
    const response = await fetch(`${url}/api/v1/trust-scores?ids=${idOf(n)}`);
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`a read was answered ${response.status}`);
    n = (n + stride) % players;
    return performance.now() - startedMs;
  }, readPauseMs);
}
