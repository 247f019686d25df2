/** Makes a backup of a data folder, with or without a running node. It only reads the folder, in short transactions. */
import type { BackupManifest, BackupTask } from '../../group/backup/backup-tasks.js';
import { type CopiedLog, sourceOf } from '../../group/backup/copy-store.js';
import { DamagedError, type SnapshotStore } from '../../group/ports/storage.js';
import { formationOf } from '../../group/recovery/recovery.js';
import { BACKUP_FORMAT, copySmallFiles, NewBackup } from '../../store/backup/backup-folder.js';
import { dataFileOf, isThere } from '../../store/files/lmdb-file.js';
import { type LmdbLogReader, logFolderOf, openLogReader } from '../../store/log/lmdb-log.js';
import { epochOf, passEpochOn } from '../../store/ownership/owner.js';
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
