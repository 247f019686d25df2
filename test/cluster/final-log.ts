/** What a stopped node holds: its log record by record, and the state that the log alone leads to. */
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { encodeRecord } from '../../src/core/records/record-codec.js';
import { stateDigest } from '../../src/core/snapshot/state-digest.js';
import { batchFrom, lastSeqOf, recover } from '../../src/group/recovery/recovery.js';
import { openLogReader } from '../../src/store/log/lmdb-log.js';
import { MemorySnapshotStore } from '../support/memory-snapshots.js';
import type { FinalNode, LogEntry } from './history.js';

const batchesRead = 256;
const bytesRead = 4 * 1024 * 1024;

export async function finalNode(name: string, dir: string, salt: string): Promise<FinalNode> {
  const log = openLogReader(dir);
  try {
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
    const recovered = recover(log, new MemorySnapshotStore(), Buffer.from(salt), lastSeqOf(log));
    return { name, log: entries, stateDigest: recovered === null ? 'none' : stateDigest(recovered.follower.state) };
  } finally {
    await log.close();
  }
}

/** Files below `dirs` that hold one of `marks`, as sentences. The processes that write them have ended. */
export function filesWith(dirs: readonly string[], marks: ReadonlyMap<string, Buffer>): string[] {
  return dirs.flatMap((dir) =>
    filesUnder(dir).flatMap((path) => {
      const bytes = readFileSync(path);
      return [...marks].filter(([, mark]) => bytes.includes(mark)).map(([name]) => `${path} holds ${name}`);
    }),
  );
}

function filesUnder(dir: string): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile());
}
