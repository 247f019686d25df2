/** Makes backups, which only read a folder and need no stop of the node, and restores them where no node runs. */
import { existsSync } from 'node:fs';
import { NONCE_BYTES } from '../../core/records/batch.js';
import type { BackupManifest, BackupTask, RestoreReport, RestoreTask } from '../../group/backup/backup-tasks.js';
import { type CopiedLog, sourceOf } from '../../group/backup/copy-store.js';
import { type RestoredLog, restoreLog } from '../../group/backup/restore-store.js';
import { DamagedError, type LogReader, type SnapshotStore } from '../../group/ports/storage.js';
import { formationOf, lastSeqOf, recover } from '../../group/recovery/recovery.js';
import { BACKUP_FORMAT, copySmallFiles, NewBackup, storeOf } from '../../store/backup/backup-folder.js';
import { contentOf, finishRestore, heldStore, Restoring } from '../../store/backup/restore-folder.js';
import { readExpectedHead } from '../../store/files/folder-files.js';
import { dataFileOf, isThere } from '../../store/files/lmdb-file.js';
import { type LmdbLogReader, logFolderOf, openLogReader } from '../../store/log/lmdb-log.js';
import { acquireFolder, epochOf, passEpochOn } from '../../store/ownership/owner.js';
import { LmdbSnapshotStore } from '../../store/snapshots/lmdb-snapshots.js';
import { backingUp, type CopyContext, CopyError, refuseIfCancelled, verifyWritten } from './backup-context.js';
import { copyIntoFolder } from './copy-folder.js';

export async function backUp({ dataDir, dir, version }: BackupTask, context: CopyContext): Promise<BackupManifest> {
  if (!isThere(dataFileOf(logFolderOf(dataDir)))) throw new CopyError('no_store', `${dataDir} has no store`);
  const backup = new NewBackup(dir);
  let source: LmdbLogReader | null = null;
  try {
    source = openLogReader(dataDir);
    const { group_id, environment } = formationOf(source);
    await passEpochOn(backup.store, epochOf(dataDir));
    const copied = await copyIntoFolder(backup.store, sourceOf(source), { progress: backingUp(context) });
    const files = copySmallFiles(dataDir, backup.store);
    await copySnapshot(new LmdbSnapshotStore(dataDir), new LmdbSnapshotStore(backup.store), copied);
    refuseIfCancelled(context);
    const { batches, records, snapshots, digest = '' } = await verifyWritten(backup.store, copied, context);
    const manifest: BackupManifest = {
      format: BACKUP_FORMAT,
      made_at: new Date().toISOString(),
      version,
      group_id,
      environment,
      last_seq: copied.lastSeq,
      chain: Buffer.from(copied.chain).toString('hex'),
      digest,
      batches,
      records,
      snapshots: snapshots.map(({ seq }) => seq),
      files,
    };
    await backup.finish(manifest);
    return manifest;
  } catch (error) {
    backup.abandon();
    throw error;
  } finally {
    await source?.close();
  }
}

/** It only makes the first start faster. */
async function copySnapshot(from: SnapshotStore, to: SnapshotStore, { lastSeq, erasedSeq }: CopiedLog): Promise<void> {
  for (const seq of from.list()) {
    if (seq > lastSeq || seq < erasedSeq) continue;
    try {
      await to.write(from.readHeader(seq), from.borrowBlocks(seq));
      return;
    } catch (error) {
      // A running node may have removed an old snapshot. A damaged one is skipped, as at a start.
      if (!(error instanceof DamagedError)) throw error;
    }
  }
}

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
  const writer = await acquireFolder(store);
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
