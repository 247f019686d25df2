/** A backup is the store in `store/` and the manifest `backup.json`, written last: without it a folder is no backup. */
import { hash } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { hasCode, messageOf, NamedError } from '../../errors.js';
import type { BackupManifest } from '../../group/backup/backup-tasks.js';
import { DamagedError } from '../../group/ports/storage.js';
import { dataFileOf, isThere } from '../files/lmdb-file.js';
import { readBytes, readText, replaceFile, syncPath } from '../files/small-file.js';
import { logFolderOf } from '../log/lmdb-log.js';

export const BACKUP_FORMAT = 1;

const MANIFEST = 'backup.json';
const STORE = 'store';
const BUILDING = '.tmp-store';
/** Folder that a file system creates at its root. */
const FOREIGN = 'lost+found';

/** Small files of a data folder that a backup includes besides the log. */
const SMALL_FILES = ['group-salt', 'dashboard-password'];

/** The target folder is not empty. Nothing was written there. */
export class NotEmptyError extends NamedError {}

export function namesIn(dir: string): string[] {
  try {
    return fs.readdirSync(dir).filter((name) => name !== FOREIGN);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Creates the folder `dir` if it does not exist, and denies access to other users. */
export function makePrivate(dir: string): void {
  makeFolder(dir);
  if (!fs.statSync(dir).isDirectory()) throw new Error(`${dir} is not a folder`);
  fs.chmodSync(dir, 0o700);
}

/** Creates parents one by one: `recursive` loops forever in Node 20 below a folder such as /proc. */
function makeFolder(dir: string): void {
  if (isThere(dir)) return;
  makeFolder(dirname(dir));
  try {
    fs.mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    // Another process may have created the folder meanwhile.
    if (!isThere(dir)) throw error;
  }
}

export async function closeAndSync(dir: string): Promise<void> {
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) await closeAndSync(path);
    else fs.chmodSync(path, 0o600);
    await syncPath(path);
  }
  fs.chmodSync(dir, 0o700);
  await syncPath(dir);
}

/** Returns the folder of the store: `store/` in a backup, the folder itself for a data folder. */
export function storeOf(dir: string): string {
  return isBackup(dir) ? join(dir, STORE) : dir;
}

/** Throws if this cannot be determined. */
export function isBackup(dir: string): boolean {
  return isThere(join(dir, MANIFEST));
}

/** Copies the small files from one folder to another. Returns their digests by name. */
export function copySmallFiles(from: string, to: string): Readonly<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const name of SMALL_FILES) {
    const content = readBytes(join(from, name));
    if (content === undefined) continue;
    fs.writeFileSync(join(to, name), content, { mode: 0o600 });
    files[name] = hash('sha256', content, 'hex');
  }
  return files;
}

/** Reads the manifest. Throws `DamagedError` if `dir` has no complete backup that this release can read. */
export function readManifest(dir: string): BackupManifest {
  const file = join(dir, MANIFEST);
  let manifest: BackupManifest;
  try {
    manifest = JSON.parse(fs.readFileSync(file, 'utf8')) as BackupManifest;
  } catch (error) {
    throw new DamagedError(`${file} cannot be read: ${messageOf(error)}`);
  }
  if (typeof manifest?.format !== 'number')
    throw new DamagedError(`${file}: expected the manifest of a backup with a numeric "format"`);
  if (manifest.format > BACKUP_FORMAT) throw new DamagedError(`${file} was written by a newer release`);
  return manifest;
}

export function problemsOfSmallFiles(dir: string, { files }: BackupManifest): string[] {
  return Object.entries(files ?? {}).flatMap(([name, digest]) => {
    const content = SMALL_FILES.includes(name) ? readBytes(join(dir, STORE, name)) : undefined;
    if (content === undefined) return [`${name} is missing`];
    return hash('sha256', content, 'hex') === digest ? [] : [`${name} differs from its digest in the manifest`];
  });
}

export class NewBackup {
  readonly store: string;
  readonly #isNew: boolean;

  /** Throws `NotEmptyError` if `dir` is not empty. */
  constructor(private readonly dir: string) {
    this.#isNew = !isThere(dir);
    if (!this.#isNew && !fs.statSync(dir).isDirectory()) throw new NotEmptyError(`${dir} is not a folder`);
    if (namesIn(dir).length > 0) throw new NotEmptyError(`${dir} is not empty; name a new folder for each backup`);
    makePrivate(dir);
    this.store = join(dir, BUILDING);
    // Fails if another backup started meanwhile.
    fs.mkdirSync(this.store, { mode: 0o700 });
  }

  /** Completes the backup. It is valid from here on, even after a power cut. */
  async finish(manifest: BackupManifest): Promise<void> {
    await closeAndSync(this.store);
    fs.renameSync(this.store, join(this.dir, STORE));
    await syncPath(this.dir);
    await replaceFile(join(this.dir, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { sync: true });
  }

  abandon(): void {
    fs.rmSync(this.store, { recursive: true, force: true });
    fs.rmSync(join(this.dir, STORE), { recursive: true, force: true });
    for (const name of [MANIFEST, `${MANIFEST}.tmp`]) fs.rmSync(join(this.dir, name), { force: true });
    if (this.#isNew) fs.rmdirSync(this.dir);
  }
}

/** Names that a node, a restore or `ptf` creates. A file that is being replaced has the suffix `.tmp`. */
const own =
  /^(?:(?:head\.json|group-salt|owner-\d+\.json|reserve|clock-seen|heartbeat|dashboard-password|cluster\.json|scrub-due|operator\.(?:sock|path)|restored\.json)(?:\.tmp)?|snapshot-\d{16}|\.(?:tmp|old)-.*|replaced-.*|\.restoring|\.joining(?:\.tmp)?|last-line)$/;
/** The page that describes the default folder in the repository. */
const placeholder = { name: 'README.md', head: '# snapshots/' };

/**
 * Throws before it touches anything if the folder, created in an existing one, is not a node's: a slip in its name must
 * not close and fill a folder of the system or another program.
 */
export function makeDataFolder(dir: string): void {
  const parent = dirname(dir);
  try {
    fs.statSync(parent);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    throw new Error(`there is no folder ${parent}; create it, or correct the path`);
  }
  const problem = foreignProblem(dir);
  if (problem !== undefined) throw new Error(problem);
  makePrivate(dir);
}

/** Returns the refusal of a folder that has an entry which no node made; undefined if it has none. */
export function foreignProblem(dir: string): string | undefined {
  const foreign = foreignEntry(dir);
  return foreign === undefined
    ? undefined
    : `it has the entry ${foreign}, which no node made; nothing was changed: name an empty or a new folder`;
}

/** Returns an entry of a folder without a node's log that no node made. */
export function foreignEntry(dir: string): string | undefined {
  const isNodes = isThere(dataFileOf(logFolderOf(dir))) || isThere(join(dir, 'head.json')) || isBackup(dir);
  if (isNodes) return undefined;
  return namesIn(dir).find((name) => !own.test(name) && !isOwnLog(dir, name) && !isPlaceholder(dir, name));
}

/** True for the log of a first start that did not get further. */
function isOwnLog(dir: string, name: string): boolean {
  return join(dir, name) === logFolderOf(dir) && fs.readdirSync(join(dir, name)).length === 0;
}

function isPlaceholder(dir: string, name: string): boolean {
  return name === placeholder.name && readText(join(dir, name))?.startsWith(placeholder.head) === true;
}
