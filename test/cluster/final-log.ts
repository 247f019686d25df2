/** Reads the log of a stopped node record by record, with the state after the last record, and searches files. */
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GroupNode, within } from '../../bench/cluster/node-group.js';
import { encodeRecord } from '../../src/core/records/record-codec.js';
import { stateDigest } from '../../src/core/snapshot/state-digest.js';
import { hasCode } from '../../src/errors.js';
import type { LogReader } from '../../src/group/ports/storage.js';
import { batchFrom, lastSeqOf, recover } from '../../src/group/recovery/recovery.js';
import { openLogReader } from '../../src/store/log/lmdb-log.js';
import { ByteSearch } from '../support/byte-search.js';
import { closing } from '../support/closing.js';
import { MemorySnapshotStore } from '../support/memory-snapshots.js';
import type { FinalNode, History, LogEntry } from './history.js';

const batchesRead = 256;
const bytesRead = 4 * 1024 * 1024;

/** Recovers the state from the log alone, without a snapshot. */
export async function finalNode(name: string, dir: string, salt: string): Promise<FinalNode> {
  await using log = closing(openLogReader(dir));
  const recovered = recover(log, new MemorySnapshotStore(), Buffer.from(salt), lastSeqOf(log));
  const digest = recovered === null ? 'none' : stateDigest(recovered.follower.state);
  return { name, log: entriesOf(log), stateDigest: digest };
}

/**
 * Waits until no log holds a withdrawn event. A withdrawal may count for its client before: a node answers 404 to the
 * repeat of one that took longer than an attempt, and the event leaves the log later, on a busy machine by seconds.
 */
export async function withdrawnGone(nodes: readonly GroupNode[], { removals }: History): Promise<void> {
  const done = removals.filter(({ kind, outcome }) => kind === 'withdraw' && outcome === 'acknowledged');
  const ids = new Set(done.map(({ target }) => target));
  await within(nodes, 'a withdrawn event is still in a log', async () => {
    for (const { dir } of nodes) {
      await using log = closing(openLogReader(dir));
      if (entriesOf(log).some(({ eventId }) => eventId !== undefined && ids.has(eventId))) return false;
    }
    return true;
  });
}

function entriesOf(log: LogReader): LogEntry[] {
  const entries: LogEntry[] = [];
  for (let from = 1; ; ) {
    const batches = log.from(from, batchesRead, bytesRead);
    if (batches.length === 0) break;
    for (const stored of batches) {
      const batch = batchFrom(stored);
      let seq = batch.firstSeq;
      for (const record of batch) {
        const digest = hash('sha256', Buffer.from(encodeRecord(record)), 'hex');
        const eventId = record.type === 'event_accepted' ? record.event_id : undefined;
        entries.push({ seq, type: record.type, digest, eventId });
        seq++;
      }
      from = seq;
    }
  }
  return entries;
}

/** Returns a sentence for each file below `dirs` that contains one of `marks`. Processes may still write the files. */
export function filesWith(dirs: readonly string[], marks: ReadonlyMap<string, Buffer>): string[] {
  const search = new ByteSearch(marks);
  return dirs
    .flatMap(filesUnder)
    .flatMap((path) => search.namesIn(bytesOf(path)).map((name) => `${path} contains ${name}`));
}

function filesUnder(dir: string): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Returns no bytes for a file that was removed meanwhile. */
function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return Buffer.alloc(0);
    throw error;
  }
}
