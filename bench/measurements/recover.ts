/** Measures how long a node takes to restart: from a snapshot and the tail behind it, and from the log alone. */
import { runTask } from '../core/tasks.js';
import { filledNode } from '../node-target.js';
import { measured } from '../run.js';
import { secondsOf } from '../until.js';

/** The last snapshot leaves a tail of a twentieth. */
const snapshotAfter = 0.95;
const startsMax = 5;

export const recover = measured({
  name: 'recover',
  summary: 'restart from a snapshot, and replay',
  players: 1_000_000,
  async measure(run) {
    const to = run.report;
    const { node, salt } = await filledNode({ ...run.options, snapshotAfter });
    run.use(node);
    const rebuilt = await runTask('rebuild', { dir: node.dataDir, salt }, 'rebuilding the state');
    to.figure('tables alone', 's', 'less', rebuilt.tablesS);
    to.figure('snapshot and tail to state', 's', 'less', rebuilt.snapshotS);
    to.figure('whole log to state', 's', 'less', rebuilt.replayS);
    const replay = to.figure('replay', 'records/s', 'more', rebuilt.records / rebuilt.replayS);
    const starts: number[] = [];
    const giveUpMs = performance.now() + run.options.seconds * 1000;
    do {
      starts.push(await secondsOf(() => node.start()));
      // A kill leaves the same tail for every start.
      await node.kill();
    } while (starts.length < startsMax && performance.now() < giveUpMs);
    const restart = to.figure(`restart with ${rebuilt.players} players until healthy`, 's', 'less', starts);
    const slower = restart / rebuilt.tablesS;
    to.goal('restart from a snapshot, against filling the same tables', slower, 'at most', 3, 'x', 3.5);
    to.goal('replay, records a second', replay, 'at least', 2_500_000, '');
  },
});
