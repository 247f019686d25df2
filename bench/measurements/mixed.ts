/**
 * The load of game servers in the evening: mostly single scores, some whole matches, some events. Then measures the
 * same readers while events, a snapshot and a computation of peer weights run together on the node's single core.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { countEntries } from '../core/population.js';
import { driveDuring } from '../disturbed.js';
import { eventKind, matchKind, mixture, scoreKind } from '../load/requests.js';
import { health, settled, snapshotsOf } from '../node-target.js';
import { measured, type Run } from '../run.js';
import { median } from '../statistics.js';
import { until } from '../until.js';
import { awaitLoopSamples, measuredOf, rates, report, type Window, warmUpSecondsMax } from '../windows.js';

/** Requests a second of the readers beside the background work. */
const readsPerSecond = 2_000;
/** Records that the node may write by itself before the events of the load make the snapshot due. */
const spareRecords = 100;
const workPatience = { timeoutMs: 600_000, everyMs: 200 };

export const mixed = measured({
  name: 'mixed',
  summary: '80 % scores, 10 % matches of 50, 10 % events; then beside a snapshot and a recompute',
  players: 100_000,
  async measure(run) {
    const ways = await run.bothWays();
    const targets = ways.map(({ target }) => target);
    const { site } = ways[0];
    const workload = mixture(site.seed, [scoreKind(site), 80], [matchKind(site), 10], [eventKind(site), 10]);
    const load = { workload, connections: run.options.connections ?? 128 };
    const closed = await run.compare('mixed', targets, { ...load, rate: null });
    const slowest = Math.min(...closed.map((one) => median(rates(one))));
    await run.compareAtHalfLoad('mixed', targets, slowest, load);
    await besideBackgroundWork(run);
  },
});

/** Measures the p99 of single scores during all background work, against the same readers on an otherwise idle node. */
async function besideBackgroundWork(run: Run): Promise<void> {
  const readsRate = run.options.rate ?? readsPerSecond;
  // The events are a tenth of the busy load, in addition to the readers, so that the readers keep their rate.
  const busyRate = (readsRate * 10) / 9;
  const warmUpS = Math.min(warmUpSecondsMax, run.options.seconds);
  const warmUpEvents = Math.ceil(busyRate * 0.1 * (warmUpS + 1));
  const due = countEntries(run.options) + run.options.peers + spareRecords + 2 * warmUpEvents;
  const environment = { SNAPSHOT_EVERY: String(due), WEIGHTS_INTERVAL_MS: '50' };
  const { target, site, node } = await run.node({ snapshotAfter: null, environment }, 'node with background work');
  const readers = [
    [scoreKind(site), 80],
    [matchKind(site), 10],
  ] as const;
  const load = { target, connections: run.options.connections ?? 32, rate: readsRate };
  const quiet = { ...load, name: 'reads, quiet', workload: mixture(site.seed, ...readers) };
  const busy = {
    ...load,
    name: 'reads, beside events, a snapshot and a recompute',
    rate: busyRate,
    workload: mixture(site.seed, ...readers, [eventKind(site), 10]),
  };
  const { seconds } = run.options;
  await run.drive(busy, warmUpS);
  await settled(node);
  const quietWindow = await run.drive(quiet, seconds);

  const before = snapshotsOf(node).join();
  const startedAtMs = Date.now();
  const isDone = async (): Promise<boolean> => {
    if (snapshotsOf(node).join() === before) return false;
    const { computed_at } = (await health(node)).weights;
    return computed_at !== null && Date.parse(computed_at) > startedAtMs;
  };
  const [busyWindow] = await driveDuring(run, busy, async () => {
    await delay(seconds * 1000);
    await until(isDone, workPatience, 'the snapshot and the peer weights were not finished in time');
  });
  await awaitLoopSamples(target);
  report(run.report, measuredOf(quiet, [quietWindow]));
  report(run.report, measuredOf(busy, [busyWindow]));
  const scoresP99Ms = ({ driven }: Window) => driven.kinds[0]!.latencies.ms(99);
  const slower = scoresP99Ms(busyWindow) / scoresP99Ms(quietWindow);
  const name = "readers' p99 beside events, a snapshot and a recompute, against quiet";
  run.report.goal(name, run.report.figure(name, 'x', 'less', slower), 'at most', 2, 'x');
}
