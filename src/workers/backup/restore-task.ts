/** Restores a verified backup into a data folder on which no node runs. */
import { existsSync } from 'node:fs';
import { NONCE_BYTES } from '../../core/records/batch.js';
import type { RestoreReport, RestoreTask } from '../../group/backup/backup-tasks.js';
import { type RestoredLog, restoreLog } from '../../group/backup/restore-store.js';
import { DamagedError, type LogReader } from '../../group/ports/storage.js';
import { lastSeqOf, recover } from '../../group/recovery/recovery.js';
import { copySmallFiles, storeOf } from '../../store/backup/backup-folder.js';
import { contentOf, finishRestore, heldStore, Restoring } from '../../store/backup/restore-folder.js';
import { readExpectedHead } from '../../store/files/folder-files.js';
import { dataFileOf } from '../../store/files/lmdb-file.js';
import { logFolderOf, openLogReader } from '../../store/log/lmdb-log.js';
import { claimFolder, epochOf, passEpochOn } from '../../store/ownership/owner.js';
import { LmdbSnapshotStore } from '../../store/snapshots/lmdb-snapshots.js';
import { backingUp, type CopyContext, CopyError, verifyWritten } from './backup-context.js';

/** Only event ids are keyed by the salt, and a restore looks up none. */
const noSalt = new Uint8Array(0);

export async function restore(task: RestoreTask, context: CopyContext): Promise<RestoreReport> {
  const finished = await finishRestore(task.dataDir);
  if (finished !== null) return finished;
  const { dataDir, replace } = task;
  const restoring = await Restoring.begin(dataDir, replace);
  try {
    const aside = contentOf(dataDir).length === 0 ? null : `replaced-${new Date().toISOString().replace(/[:.]/g, '-')}`;
    const backup = storeOf(task.dir);
    const erasuresFrom = erasuresFromOf(task);
    const source = openLogReader(backup);
    const old = erasuresFrom === null ? null : openOld(erasuresFrom);
    try {
      const backupSeq = lastSeqOf(source);
      const epochs = [epochOf(backup), erasuresFrom === null ? 0 : epochOf(storeOf(erasuresFrom))];
      await passEpochOn(restoring.store, Math.max(...epochs));
      const restored = await restoreTo(restoring.store, source, backup, old, context);
      if (!restored.changed) await copySnapshots(backup, restoring.store);
      copySmallFiles(backup, restoring.store);
      await verifyWritten(restoring.store, restored, context);
      const counts = { backup_seq: backupSeq, last_seq: restored.lastSeq };
      const report = {
        data_dir: dataDir,
        ...counts,
        erasures_from: erasuresFrom,
        ...summary(restored),
        replaced: aside,
      };
      await restoring.finish(report, aside);
      return report;
    } finally {
      await source.close();
      await old?.close();
    }
  } catch (error) {
    restoring.abandon();
    throw error;
  }
}

function erasuresFromOf({ dataDir, erasuresFrom, withoutErasures }: RestoreTask): string | null {
  if (withoutErasures) return null;
  return erasuresFrom ?? (heldStore(dataDir) ? dataDir : null);
}

/** Throws if the log cannot list the erasures after the backup, because the operator must know of them. */
function openOld(dir: string): LogReader {
  const unknown = (why: string) =>
    new CopyError('erasures_unknown', `${why}; the erasures after the backup cannot be read from ${dir}`);
  const store = storeOf(dir);
  if (!existsSync(dataFileOf(logFolderOf(store)))) throw unknown('there is no log');
  try {
    const log = openLogReader(store);
    const expected = readExpectedHead(store)?.lastSeq ?? 0;
    if (lastSeqOf(log) < expected) throw new DamagedError(`its log ends before record ${expected}`);
    return log;
  } catch (error) {
    if (error instanceof DamagedError) throw unknown(error.message);
    throw error;
  }
}

async function restoreTo(
  store: string,
  backup: LogReader,
  backupStore: string,
  old: LogReader | null,
  context: CopyContext,
): Promise<RestoredLog> {
  const writer = await claimFolder(store);
  try {
    return await restoreLog({
      backup,
      stateOfBackup() {
        const recovered = recover(backup, new LmdbSnapshotStore(backupStore), noSalt, lastSeqOf(backup));
        if (recovered === null) throw new DamagedError('the log of the backup is empty');
        return recovered.follower.state;
      },
      old,
      sink: { add: (batches) => writer.appendAll(batches) },
      nonce: () => context.nonce(NONCE_BYTES),
      progress: backingUp(context),
    });
  } finally {
    await writer.close();
  }
}

async function copySnapshots(from: string, to: string): Promise<void> {
  const source = new LmdbSnapshotStore(from);
  for (const seq of source.list())
    await new LmdbSnapshotStore(to).write(source.readHeader(seq), source.borrowBlocks(seq));
}

function summary({ erasures, requests, withdrawals, lostEvents, lostFacts }: RestoredLog) {
  const acts = lostFacts.map(({ at, ...fact }) => ({ at: new Date(at).toISOString(), ...fact }));
  return { erasures, requests, withdrawals, events_lost: lostEvents, acts_lost: acts, resumed: false };
}
