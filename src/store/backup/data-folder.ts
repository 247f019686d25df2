/** Makes a data folder. A slip in its name must not close and fill a folder of the system or another program. */
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasCode } from '../../errors.js';
import { dataFileOf, isThere } from '../files/lmdb-file.js';
import { readText } from '../files/small-file.js';
import { logFolderOf } from '../log/lmdb-log.js';
import { isBackup, makePrivate, namesIn } from './backup-folder.js';

/** Names that a node, a restore or `ptf` creates. A file that is being replaced has the suffix `.tmp`. */
const own =
  /^(?:(?:head\.json|group-salt|owner-\d+\.json|reserve|clock-seen|heartbeat|dashboard-password|cluster\.json|scrub-due|operator\.(?:sock|path)|restored\.json)(?:\.tmp)?|snapshot-\d{16}|\.(?:tmp|old)-.*|replaced-.*|\.restoring|\.joining(?:\.tmp)?|last-line)$/;
/** The page that describes the default folder in the repository. */
const placeholder = { name: 'README.md', head: '# snapshots/' };

/** Throws before it touches anything if the folder, created in an existing one, is not a node's. */
export function makeDataFolder(dir: string): void {
  const parent = dirname(dir);
  try {
    statSync(parent);
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
  if (isNodes(dir)) return undefined;
  return namesIn(dir).find((name) => !own.test(name) && !isOwnLog(dir, name) && !isPlaceholder(dir, name));
}

function isNodes(dir: string): boolean {
  return isThere(dataFileOf(logFolderOf(dir))) || isThere(join(dir, 'head.json')) || isBackup(dir);
}

/** True for the log of a first start that did not get further. */
function isOwnLog(dir: string, name: string): boolean {
  return join(dir, name) === logFolderOf(dir) && readdirSync(join(dir, name)).length === 0;
}

function isPlaceholder(dir: string, name: string): boolean {
  return name === placeholder.name && readText(join(dir, name))?.startsWith(placeholder.head) === true;
}
