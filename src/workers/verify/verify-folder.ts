/** Verifies the store of a data folder from its files alone, with or without a running node. */
import { existsSync } from 'node:fs';
import { messageOf } from '../../errors.js';
import type { VerifyReport } from '../../group/api.js';
import { type VerifyMode, verifySteps } from '../../group/recovery/verification.js';
import { limits } from '../../limits.js';
import { readExpectedHead } from '../../store/files/folder-files.js';
import { checkEnvironmentFile, dataFileOf } from '../../store/files/lmdb-file.js';
import { logFolderOf, openLogReader, tryWriting } from '../../store/log/lmdb-log.js';
import { checkPages } from '../../store/log/page-check.js';
import { LmdbSnapshotStore } from '../../store/snapshots/lmdb-snapshots.js';

/** Mode `start`, and then a first write, which is aborted: LMDB may end the process at an operation of a start. */
export async function verifyForStart(dir: string): Promise<VerifyReport> {
  const report = await verifyFolder(dir, 'start');
  if (!report.ok || report.lastSeq === 0) return report;
  try {
    await tryWriting(dir);
    return report;
  } catch (error) {
    return { ...report, ok: false, faults: [messageOf(error)] };
  }
}

/**
 * Awaits `onProgress` between two steps. Never rejects for damage, which the report contains. Some damage kills the
 * process that reads it.
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
    const file = dataFileOf(logFolderOf(dir));
    const isNew = expected === null && snapshots.list().length === 0 && !existsSync(file);
    if (isNew) return { ok: true, ...nothing, faults: [] };
    checkEnvironmentFile(file);
    checkPages(file);
    const log = openLogReader(dir, { alone: true, ...(mode === 'background' && { readMs: limits.lowPriorityReadMs }) });
    try {
      // The count reads a key of every batch, which takes too long at a start. There `checkPages` detects missing
      // newest batches.
      if (mode !== 'start') for (const step of log.checkCount()) await onProgress(...step);
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
    return { ok: false, ...nothing, faults: [messageOf(error)] };
  }
}
