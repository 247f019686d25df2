/** What readers feel while the node makes a snapshot. */
import { setTimeout as delay } from 'node:timers/promises';
import { countEntries } from '../core/population.js';
import { measureDisturbed } from '../disturbed.js';
import { Connection } from '../load/connection.js';
import { eventKind, type Site } from '../load/requests.js';
import { type LoadOptions, measured } from '../measured.js';
import { snapshotsOf, startFilled } from '../node-target.js';
import type { OwnNode } from '../own-node.js';
import type { Report } from '../report.js';

const pollMs = 20;
const timeoutMs = 600_000;
/** Records that the node may write by itself before the events that make the snapshot due, and these. */
const spareRecords = 100;
const lastEvents = 200;

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
        rehearsals: 0,
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

/** A few events make the snapshot due. */
async function makeSnapshot(node: OwnNode, site: Site): Promise<() => Promise<number>> {
  const startedMs = performance.now();
  const before = snapshotsOf(node).join();
  await sendEvents(node, site, 0, lastEvents);
  const giveUpMs = performance.now() + timeoutMs;
  while (snapshotsOf(node).join() === before) {
    if (performance.now() > giveUpMs) throw new Error('no snapshot was made in time');
    await delay(pollMs);
  }
  const tookS = (performance.now() - startedMs) / 1000;
  return async () => tookS;
}

/**
 * Sends so many events from number `first` on, each once the one before is answered: a batch would hold the node's thread by itself,
 * and readers would wait for that.
 */
export function sendEvents(node: OwnNode, site: Site, first: number, count: number): Promise<void> {
  const kind = eventKind(site);
  return new Promise((resolve, reject) => {
    const connection = new Connection('127.0.0.1', node.port);
    let sent = 0;
    const next = () => connection.send(kind.request(first + sent++, 0));
    connection.onAnswer = (_, status) => {
      if (status === 201 && sent < count) return next();
      connection.close();
      if (status === 201) resolve();
      else reject(new Error(`an event was answered with ${status}`));
    };
    next();
  });
}
