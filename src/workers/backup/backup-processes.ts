/**
 * Starts each backup or restore in a process of its own, because a damaged file may kill the process that reads it.
 * Also verifies any folder, whether a store or a backup.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { OnProgress, VerifyReport } from '../../group/api.js';
import type {
  BackupManifest,
  BackupTask,
  CopyOutcome,
  OnCopyStatus,
  RestoreReport,
  RestoreTask,
} from '../../group/backup/backup-tasks.js';
import type { VerifyMode } from '../../group/recovery/verification.js';
import { isBackup, problemsOfSmallFiles, readManifest, storeOf } from '../../store/backup/backup-folder.js';
import { halfRestored } from '../../store/backup/restore-folder.js';
import { refuseIfFull } from '../../store/files/full-disk.js';
import { verifyInChild } from '../verify/verify-runner.js';
import { CopyError, refusalOf } from './backup-context.js';
import type { CopyMessage } from './backup-process.js';

const entry = fileURLToPath(new URL('./backup-process.js', import.meta.url));

const cancelled = { ok: false, code: 'cancelled', error: 'cancelled' } as const;

interface CopyWatch {
  readonly onStatus: OnCopyStatus;
  readonly signal: AbortSignal;
}

export function backUpInChild(task: BackupTask, watch: CopyWatch): Promise<CopyOutcome<BackupManifest>> {
  return inChild('backup', task, watch);
}

export async function restoreInChild(task: RestoreTask, watch: CopyWatch): Promise<CopyOutcome<RestoreReport>> {
  try {
    if (!isBackup(task.dir)) throw new CopyError('no_backup', `${task.dir} is not a complete backup`);
  } catch (error) {
    return refusalOf(error);
  }
  const checking = (done: number, total: number) => watch.onStatus({ phase: 'checking the backup', done, total });
  try {
    const { faults } = await verifyBackup(task.dir, checking, watch.signal);
    if (faults.length > 0) return { ok: false, code: 'backup_damaged', error: faults.join('; ') };
  } catch (error) {
    if (watch.signal.aborted) return cancelled;
    throw error;
  }
  return inChild('restore', task, watch);
}

/** Verifies the store of a data folder on which no node runs. A backup is verified completely, whatever the mode. */
export async function verifyAny(dir: string, mode: VerifyMode, onProgress?: OnProgress): Promise<VerifyReport> {
  if (isBackup(dir)) return verifyBackup(dir, onProgress);
  const report = await verifyInChild(dir, mode, onProgress);
  const half = halfRestored(dir);
  return half === undefined ? report : { ...report, ok: false, faults: [half, ...report.faults] };
}

async function verifyBackup(dir: string, onProgress?: OnProgress, signal?: AbortSignal): Promise<VerifyReport> {
  const report = await verifyInChild(storeOf(dir), 'full', onProgress, signal);
  const faults = [...report.faults, ...problemsOfManifest(dir, report)];
  return { ...report, ok: faults.length === 0, faults };
}

function problemsOfManifest(dir: string, report: VerifyReport): string[] {
  try {
    const manifest = readManifest(dir);
    const faults = problemsOfSmallFiles(dir, manifest);
    if (report.faults.length > 0) return faults;
    const snapshots = report.snapshots.map(({ seq }) => seq).join();
    if (report.lastSeq !== manifest.last_seq) {
      faults.push(`the log ends at record ${report.lastSeq}; the manifest says ${manifest.last_seq}`);
    } else if (report.digest !== manifest.digest) faults.push('the digest of the log differs from the manifest');
    if (snapshots !== manifest.snapshots.join()) faults.push('the snapshots differ from the manifest');
    return faults;
  } catch (error) {
    return [refusalOf(error).error];
  }
}

function inChild<T>(
  kind: 'backup' | 'restore',
  task: BackupTask | RestoreTask,
  watch: CopyWatch,
): Promise<CopyOutcome<T>> {
  return new Promise((resolve, reject) => {
    const child = fork(entry, [kind, JSON.stringify(task)], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [],
    });
    let outcome: CopyOutcome<T> | null = null;
    const cancel = () => child.kill('SIGTERM');
    watch.signal.addEventListener('abort', cancel);
    if (watch.signal.aborted) cancel();
    child.on('message', (message: CopyMessage) => {
      if ('status' in message) watch.onStatus(message.status);
      else outcome = message.outcome as CopyOutcome<T>;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      watch.signal.removeEventListener('abort', cancel);
      resolve(outcome ?? (watch.signal.aborted ? cancelled : died(task, signal, code)));
    });
  });
}

/** Explains why the process ended without an outcome: an early signal, a full disk, or a damaged file. */
function died({ dataDir, dir }: BackupTask | RestoreTask, signal: NodeJS.Signals | null, code: number | null) {
  try {
    for (const folder of [dataDir, dir]) refuseIfFull(folder);
  } catch (error) {
    return refusalOf(error);
  }
  const how = signal ?? `exit code ${code}`;
  const error = `the backup process died (${how}); a file that it read may be damaged: run ptf verify`;
  return { ok: false, code: 'copy_failed', error } as const;
}
