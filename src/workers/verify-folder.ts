/** Verifies the store of a data folder from its files alone, whether or not a node runs on it. */
import { existsSync } from 'node:fs';
import type { VerifyReport } from '../group/api.js';
import { type VerifyMode, verifySteps } from '../group/verification.js';
import { dataFileOf } from '../store/environment-file.js';
import { readExpectedHead } from '../store/expected-head.js';
import { logFolderOf, openLogReader } from '../store/lmdb-log.js';
import { LmdbSnapshotStore } from '../store/lmdb-snapshots.js';

/**
 * Waits for `onProgress` between two steps. Never rejects for damage: the report says it. Some damage kills the process that reads it, so the caller
 * should be one of its own.
 */
export async function verifyFolder(
  dir: string,
  mode: VerifyMode,
  onProgress: (done: number, total: number) => void | Promise<void> = () => undefined,
): Promise<VerifyReport> {
  const nothing = { lastSeq: 0, batches: 0, records: 0, auditEntries: 0, snapshots: [] };
  try {
    const expected = readExpectedHead(dir);
    const snapshots = new LmdbSnapshotStore(dir);
    const isNew = expected === null && snapshots.list().length === 0 && !existsSync(dataFileOf(logFolderOf(dir)));
    if (isNew) return { ok: true, ...nothing, faults: [] };
    const log = openLogReader(dir, { alone: true });
    try {
      log.checkCount();
      const steps = verifySteps(log, snapshots, expected, mode);
      for (;;) {
        const step = steps.next();
        if (step.done) return step.value;
        await onProgress(...step.value);
      }
    } finally {
      await log.close();
    }
  } catch (error) {
    return { ok: false, ...nothing, faults: [error instanceof Error ? error.message : String(error)] };
  }
}
