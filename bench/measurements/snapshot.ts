/** Measures the effect of a snapshot on readers. */
import { countEntries } from '../core/population.js';
import { measureDisturbed, sendEvents } from '../disturbed.js';
import { snapshotsOf } from '../node-target.js';
import { measured } from '../run.js';
import { secondsOf, until } from '../until.js';

const patience = { timeoutMs: 600_000, everyMs: 20 };
/**
 * Records that the node may write by itself before the events that make the snapshot due, and the number of these
 * events.
 */
const spareRecords = 100;
const lastEvents = 200;

export const snapshot = measured({
  name: 'snapshot',
  summary: 'readers while a snapshot is made',
  players: 1_000_000,
  async measure(run) {
    const due = countEntries(run.options) + run.options.peers + spareRecords;
    const running = await run.node({ snapshotAfter: null, environment: { SNAPSHOT_EVERY: String(due) } });
    const { node, site } = running;
    const makeSnapshot = async (): Promise<void> => {
      const before = snapshotsOf(node).join();
      await sendEvents(node, site, 0, lastEvents);
      const isMade = () => snapshotsOf(node).join() !== before;
      await until(isMade, patience, 'no snapshot was made within the time limit');
    };
    const work = { what: 'a snapshot', work: () => secondsOf(makeSnapshot), rehearsals: 0, rounds: 1, restFactor: 0 };
    const { worstLoopMs } = await measureDisturbed(run, running, work);
    run.report.goal('event-loop stall during a snapshot', worstLoopMs, 'at most', 10, ' ms');
  },
});
