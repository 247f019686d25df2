/** Reads the log of a node, and checks that it contains the events that the node acknowledged. */
import type { StoredBatch } from '../src/group/ports/storage.js';
import { batchFrom } from '../src/group/recovery/recovery.js';
import { openLogReader } from '../src/store/log/lmdb-log.js';
import type { RunningNode } from './node-target.js';
import type { Report } from './report.js';
import { acknowledgedBy } from './windows.js';

const piece = { batches: 1_000, bytes: 8 * 1024 * 1024 };

/** Memory of a node and its replica for the id of an accepted event and for a commit (`docs/operating/scale.md`). */
export const bytesPerEvent = 2 * (24 + 6);
export const bytesPerCommit = 2 * 16;

/** Ends the node. Returns how many acknowledged events its log lacks; each of them is a fault. */
export async function expectStored({ target, node, events }: RunningNode, to: Report): Promise<number> {
  await node.halt();
  const acknowledged = acknowledgedBy(target);
  const stored = (await eventsIn(node.dataDir)) - events;
  if (stored < acknowledged) {
    to.fault(`${target.name}: ${acknowledged} events acknowledged, the log grew by ${stored}`);
  }
  return Math.max(0, acknowledged - stored);
}

export async function eventsIn(dataDir: string): Promise<number> {
  let events = 0;
  for await (const stored of batchesIn(dataDir)) {
    const batch = batchFrom(stored);
    for (let seq = batch.firstSeq; seq <= batch.lastSeq; seq++) {
      if (batch.record(seq).type === 'event_accepted') events++;
    }
  }
  return events;
}

export async function* batchesIn(dataDir: string): AsyncGenerator<StoredBatch> {
  const log = openLogReader(dataDir);
  try {
    for (let seq = 1; ; ) {
      const batches = log.from(seq, piece.batches, piece.bytes);
      if (batches.length === 0) return;
      yield* batches;
      seq = batches.at(-1)!.firstSeq + 1;
    }
  } finally {
    await log.close();
  }
}
