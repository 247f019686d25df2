/** How long a node takes to be there again: from a snapshot and the tail behind it, and from the log alone. */
import { runTask } from '../core/tasks.js';
import { type LoadOptions, measured } from '../measured.js';
import { filledNode } from '../node-target.js';
import type { Report } from '../report.js';

/** The tail that the last snapshot does not cover. */
const snapshotAfter = 0.95;
const startsMax = 5;

export const recover = measured('recover', 'restart from a snapshot, and replay', { players: 1_000_000 }, run);

async function run(options: LoadOptions, to: Report): Promise<void> {
  const { node, salt } = await filledNode({ ...options, snapshotAfter });
  try {
    const rebuilt = await runTask('rebuild', { dir: node.dataDir, salt }, 'rebuilding the state');
    to.figure('tables alone', 's', 'less', rebuilt.tablesS);
    to.figure('snapshot and tail to state', 's', 'less', rebuilt.snapshotS);
    to.figure('whole log to state', 's', 'less', rebuilt.replayS);
    const replay = to.figure('replay', 'records/s', 'more', rebuilt.records / rebuilt.replayS);
    const starts: number[] = [];
    const giveUpMs = performance.now() + options.seconds * 1000;
    do {
      const startedMs = performance.now();
      await node.start();
      starts.push((performance.now() - startedMs) / 1000);
      // As a crash would, so that every start has the same tail before it.
      await node.kill();
    } while (starts.length < startsMax && performance.now() < giveUpMs);
    const restart = to.figure(`restart with ${rebuilt.players} players until healthy`, 's', 'less', starts);
    to.goal('restart from a snapshot, against filling the same tables', restart / rebuilt.tablesS, 'at most', 3, 'x');
    to.goal('replay, records a second', replay, 'at least', 2_500_000, '');
  } finally {
    await node.stop();
  }
}
