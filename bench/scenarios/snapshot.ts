/** What readers feel while the node makes a snapshot. */
import { setTimeout as delay } from 'node:timers/promises';
import { countEntries } from '../core/population.js';
import { measureDisturbed } from '../disturbed.js';
import { Connection } from '../load/connection.js';
import { batchEvents, batchKind, type Site } from '../load/requests.js';
import { type LoadOptions, measured } from '../measured.js';
import { snapshotsOf, startFilled } from '../node-target.js';
import type { OwnNode } from '../own-node.js';
import type { Report } from '../report.js';

const pollMs = 20;
const timeoutMs = 600_000;
/** Records that the node may write by itself before the batch that makes the snapshot due. */
const spareRecords = batchEvents - 100;

export const snapshot = measured('snapshot', 'readers while a snapshot is made', { players: 1_000_000 }, run);

async function run(options: LoadOptions, to: Report): Promise<void> {
  const due = countEntries(options) + options.peers + spareRecords;
  const environment = { SNAPSHOT_EVERY: String(due) };
  const { target, site, node } = await startFilled('node', { ...options, snapshotAfter: null, environment });
  try {
    const { worstLoopMs } = await measureDisturbed(
      {
        target,
        site,
        what: 'a snapshot',
        work: () => makeSnapshot(node, site),
        rehearse: false,
        rounds: 1,
        restFactor: 0,
        quietS: options.seconds,
        connections: options.connections ?? 32,
        rate: options.rate ?? 5_000,
      },
      to,
    );
    to.goal('event-loop stall during a snapshot', worstLoopMs, 'at most', 10, ' ms');
  } finally {
    await target.stop();
  }
}

/** One batch makes the snapshot due. */
async function makeSnapshot(node: OwnNode, site: Site): Promise<number> {
  const startedMs = performance.now();
  const before = snapshotsOf(node).join();
  await sendBatch(node, site, 0);
  const giveUpMs = performance.now() + timeoutMs;
  while (snapshotsOf(node).join() === before) {
    if (performance.now() > giveUpMs) throw new Error('no snapshot was made in time');
    await delay(pollMs);
  }
  return (performance.now() - startedMs) / 1000;
}

export function sendBatch(node: OwnNode, site: Site, number: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const connection = new Connection('127.0.0.1', node.port);
    connection.onAnswer = (_, status) => {
      connection.close();
      if (status === 200) resolve();
      else reject(new Error(`a batch was answered with ${status}`));
    };
    connection.send(batchKind(site).request(number, number));
  });
}
