/** What backup and restore are asked for and what they say, whoever carries them out. */

export interface BackupTask {
  readonly dataDir: string;
  /** Where the backup goes: empty, or not there yet. */
  readonly dir: string;
  /** The release that makes it. */
  readonly version: string;
}

/** What a complete backup says of itself, in `backup.json`. */
export interface BackupManifest {
  readonly format: number;
  /** ISO 8601 in UTC. */
  readonly made_at: string;
  readonly version: string;
  readonly group_id: string;
  readonly environment: string;
  /** The log holds every record up to this one, and none after it. */
  readonly last_seq: number;
  /** Chain value (hex) of its newest batch. */
  readonly chain: string;
  /** SHA-256 (hex) of all batches as stored. */
  readonly digest: string;
  readonly batches: number;
  readonly records: number;
  readonly snapshots: readonly number[];
  /** Small files of the data folder, with their SHA-256 (hex). */
  readonly files: Readonly<Record<string, string>>;
}

export interface RestoreTask {
  /** The backup, which was verified. */
  readonly dir: string;
  readonly dataDir: string;
  /** Whether what `dataDir` holds may step aside. */
  readonly replace: boolean;
  /** The folder that knows what was erased after the backup; null: `dataDir` itself, where it holds a store. */
  readonly erasuresFrom: string | null;
  /** Nothing is erased again, whatever the old folder knows. */
  readonly withoutErasures: boolean;
}

export interface RestoreReport {
  readonly data_dir: string;
  /** The newest record of the backup, and of the restored log. */
  readonly backup_seq: number;
  readonly last_seq: number;
  /** Folder that told what was erased after the backup; null: none did. */
  readonly erasures_from: string | null;
  /** Erasures, requests for one, and withdrawals newer than the backup that were carried over. */
  readonly erasures: number;
  readonly requests: number;
  readonly withdrawals: number;
  /** Events newer than the backup, which are gone. */
  readonly events_lost: number;
  /** Acts of peers and operators newer than the backup, which did not happen in the restored log. */
  readonly acts_lost: readonly {
    readonly at: string;
    readonly action: string;
    readonly actor: string;
    readonly target: string;
  }[];
  /** Folder within the data folder where its old content went; null: it held none. */
  readonly replaced: string | null;
  /** Whether an earlier restore, cut short, was carried to its end; nothing else was done then. */
  readonly resumed: boolean;
}

/** It was not done, and why: a stable code, and words for a person. */
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

/** Where the work stands, for a person who waits. */
export interface CopyStatus {
  readonly phase: 'checking the backup' | 'copying' | 'verifying';
  readonly done: number;
  readonly total: number;
}

export type OnCopyStatus = (status: CopyStatus) => void;
