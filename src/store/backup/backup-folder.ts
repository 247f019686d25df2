/**
 * A backup on disk: a data folder's store in `store/`, and `backup.json`, which is written last. Without that file a
 * folder is no backup, whatever else stands in it.
 */
import { hash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../../errors.js';
import type { BackupManifest } from '../../group/backup/backup-tasks.js';
import { DamagedError } from '../../group/ports/storage-errors.js';
import { replaceFile, syncPath } from '../files/durable-file.js';
import { isMissing, isThere } from '../files/environment-file.js';

export const BACKUP_FORMAT = 1;

const MANIFEST = 'backup.json';
const STORE = 'store';
/** The store while it is written. */
const BUILDING = '.tmp-store';
/** A file system's own, at its root. */
const FOREIGN = 'lost+found';

/** Small files that a data folder needs besides its log. */
const SMALL_FILES = ['group-salt', 'dashboard-password'];

/** The folder is not empty, so nothing was written there. */
export class NotEmptyError extends Error {
  override readonly name = 'NotEmptyError';
}

/** What a folder holds; nothing where there is no such folder. */
export function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir).filter((name) => name !== FOREIGN);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Makes the folder `dir` where there is none, and closes it to others. */
export function makePrivate(dir: string): void {
  makeFolder(dir);
  if (!statSync(dir).isDirectory()) throw new Error(`${dir} is no folder`);
  chmodSync(dir, 0o700);
}

/** By hand: below a folder such as /proc, where nothing can be made, `recursive` never ends in Node 20. */
function makeFolder(dir: string): void {
  if (isThere(dir)) return;
  makeFolder(dirname(dir));
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    // Another process may have been faster.
    if (!isThere(dir)) throw error;
  }
}

/** Takes all rights on what lies in `dir` from others, and syncs it. */
export async function closeAndSync(dir: string): Promise<void> {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) await closeAndSync(path);
    else chmodSync(path, 0o600);
    await syncPath(path);
  }
  chmodSync(dir, 0o700);
  await syncPath(dir);
}

/** Where the store of a folder lies: of a backup's, or of a data folder. */
export function storeOf(dir: string): string {
  return isBackup(dir) ? join(dir, STORE) : dir;
}

/** Throws where that cannot be told. */
export function isBackup(dir: string): boolean {
  return isThere(join(dir, MANIFEST));
}

/** Copies the small files of one folder to another; answers their digests by their names. */
export function copySmallFiles(from: string, to: string): Readonly<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const name of SMALL_FILES) {
    const content = contentOf(join(from, name));
    if (content === undefined) continue;
    writeFileSync(join(to, name), content, { mode: 0o600 });
    files[name] = hash('sha256', content, 'hex');
  }
  return files;
}

function contentOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Throws `DamagedError` where `dir` holds no whole backup that this release can read. */
export function readManifest(dir: string): BackupManifest {
  const file = join(dir, MANIFEST);
  let manifest: BackupManifest;
  try {
    manifest = JSON.parse(readFileSync(file, 'utf8')) as BackupManifest;
  } catch (error) {
    throw new DamagedError(`${file} cannot be read: ${messageOf(error)}`);
  }
  if (typeof manifest?.format !== 'number') throw new DamagedError(`${file}: no description of a backup stands in it`);
  if (manifest.format > BACKUP_FORMAT) throw new DamagedError(`${file} was written by a newer release`);
  return manifest;
}

/** Where the backup `dir` has other small files than its manifest says. */
export function problemsOfSmallFiles(dir: string, { files }: BackupManifest): string[] {
  return Object.entries(files ?? {}).flatMap(([name, digest]) => {
    const content = SMALL_FILES.includes(name) ? contentOf(join(dir, STORE, name)) : undefined;
    if (content === undefined) return [`${name} is missing`];
    return hash('sha256', content, 'hex') === digest ? [] : [`${name} is not what was written`];
  });
}

/** A backup that is being made. */
export class NewBackup {
  /** The folder to write the store into. */
  readonly store: string;
  readonly #dir: string;
  readonly #isNew: boolean;

  /** Throws `NotEmptyError` where `dir` holds anything. */
  constructor(dir: string) {
    this.#isNew = !isThere(dir);
    if (!this.#isNew && !statSync(dir).isDirectory()) throw new NotEmptyError(`${dir} is no folder`);
    if (namesIn(dir).length > 0) throw new NotEmptyError(`${dir} is not empty; name a new folder for each backup`);
    makePrivate(dir);
    this.#dir = dir;
    this.store = join(dir, BUILDING);
    // Fails where another backup began meanwhile.
    mkdirSync(this.store, { mode: 0o700 });
  }

  /** The backup is whole from here on, after a power cut too. */
  async finish(manifest: BackupManifest): Promise<void> {
    await closeAndSync(this.store);
    renameSync(this.store, join(this.#dir, STORE));
    await syncPath(this.#dir);
    await replaceFile(join(this.#dir, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { sync: true });
  }

  /** Removes what was written. */
  abandon(): void {
    rmSync(this.store, { recursive: true, force: true });
    rmSync(join(this.#dir, STORE), { recursive: true, force: true });
    for (const name of [MANIFEST, `${MANIFEST}.tmp`]) rmSync(join(this.#dir, name), { force: true });
    if (this.#isNew) rmdirSync(this.#dir);
  }
}
