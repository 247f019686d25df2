/** Measures how large etcd's database becomes while a group of three nodes takes a day's load of events. */
import { setTimeout as delay } from 'node:timers/promises';
import { batchEvents, batchKind, only } from '../load/requests.js';
import { measured } from '../run.js';
import { groupOfThree } from './cluster.js';

const eventsPerS = 20_000;
const connections = 16;
const lookMs = 500;
const goalMb = 256;

export const database = measured({
  name: 'database',
  summary: "the size of etcd's database under 20,000 events a second",
  players: 100_000,
  minutes: 60,
  async measure(run) {
    const group = await groupOfThree(run);
    if (group === null) return;
    const { etcd, leader, site } = group;
    let isOver = false;
    let largestMb = 0;
    const looking = (async () => {
      while (!isOver) {
        largestMb = Math.max(largestMb, (await etcd.dbBytes()) / 1e6);
        await delay(lookMs);
      }
    })();
    const rate = run.options.rate ?? eventsPerS / batchEvents;
    const load = { target: leader.target, workload: only(batchKind(site)), connections, rate };
    try {
      await run.alternate('batches', [{ name: `batches of ${batchEvents}`, ...load }]);
    } finally {
      isOver = true;
      await looking;
    }
    const largest = run.report.figure("largest database of etcd's members", 'MB', 'less', largestMb);
    run.report.goal("etcd's database under 20,000 events a second", largest, 'at most', goalMb, ' MB');
  },
});
