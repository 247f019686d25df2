/** Declares the tasks and results of backup and restore, independent of the process that runs them. */
import type { AuditFact } from '../../core/records/records.js';

export interface BackupTask {
  readonly dataDir: string;
  readonly dir: string;
  readonly version: string;
}

export interface BackupManifest {
  readonly format: number;
  readonly made_at: string;
  readonly version: string;
  readonly group_id: string;
  readonly environment: string;
  /** The log contains every record up to this one, and none behind it. */
  readonly last_seq: number;
  readonly chain: string;
  readonly digest: string;
  readonly batches: number;
  readonly records: number;
  readonly snapshots: readonly number[];
  /** Small files of the data folder, with their SHA-256 (hex). */
  readonly files: Readonly<Record<string, string>>;
}

export interface RestoreTask {
  readonly dir: string;
  readonly dataDir: string;
  readonly replace: boolean;
  /** The folder whose log lists the erasures after the backup; null: `dataDir` itself, if it has a store. */
  readonly erasuresFrom: string | null;
  readonly withoutErasures: boolean;
}

export interface RestoreReport {
  readonly data_dir: string;
  readonly backup_seq: number;
  readonly last_seq: number;
  readonly erasures_from: string | null;
  /** Erasures, requests for one, and withdrawals newer than the backup that were applied again. */
  readonly erasures: number;
  readonly requests: number;
  readonly withdrawals: number;
  readonly events_lost: number;
  /** Actions of peers and operators that the restored log lacks. */
  readonly acts_lost: readonly (AuditFact & { readonly at: string })[];
  /** Folder within the data folder that received its previous contents. */
  readonly replaced: string | null;
  /** Whether this run completed an interrupted restore; then it did nothing else. */
  readonly resumed: boolean;
}

export interface CopyRefusal {
  readonly ok: false;
  readonly code: CopyCode;
  readonly error: string;
}

export type CopyCode =
  | 'not_empty'
  | 'no_store'
  | 'no_backup'
  | 'backup_damaged'
  | 'store_damaged'
  | 'folder_in_use'
  | 'access_denied'
  | 'erasures_unknown'
  | 'cancelled'
  | 'copy_failed';

export type CopyOutcome<T> = { readonly ok: true; readonly value: T } | CopyRefusal;

export interface CopyStatus {
  readonly phase: 'checking the backup' | 'copying' | 'verifying';
  readonly done: number;
  readonly total: number;
}

export type OnCopyStatus = (status: CopyStatus) => void;
