/**
 * Where the operator's socket of a data folder lies: `operator.sock` in it, or, where that path is too long for a
 * socket, in a private folder of the system's temporary one, which `operator.path` names.
 */
import { lstatSync, mkdtempSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { limits } from '../../limits.js';

const socketName = 'operator.sock';
const pathName = 'operator.path';
const folderPrefix = 'ptf-';

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= limits.socketPathBytes;
}

/**
 * Clears what a killed node left in `dir` and returns the path to listen on. Only for the owner of the folder: its lock
 * is what proves that nobody listens any more. Throws where even the temporary folder's path is too long.
 */
export function claimPath(dir: string): string {
  leavePlace(dir);
  const path = join(resolve(dir), socketName);
  if (fits(path)) return path;
  // Created with mode 0700.
  const folder = mkdtempSync(join(tmpdir(), folderPrefix));
  const short = join(folder, socketName);
  if (!fits(short)) {
    rmdirSync(folder);
    throw new Error(
      `no path for the operator's socket has at most ${limits.socketPathBytes} bytes: set TMPDIR to a shorter one`,
    );
  }
  const file = join(dir, pathName);
  writeFileSync(`${file}.tmp`, short, { mode: 0o600 });
  renameSync(`${file}.tmp`, file);
  return short;
}

/** Removes the socket of `dir`, wherever it lies. Nothing to remove is no fault. */
export function leavePlace(dir: string): void {
  rmSync(join(dir, socketName), { force: true });
  const named = namedPath(dir);
  if (named === undefined) return;
  if (isPrivate(dir, named)) {
    rmSync(named, { force: true });
    // Not with what it holds: nothing of ours is left in it.
    rmdirSync(dirname(named));
  }
  rmSync(join(dir, pathName), { force: true });
}

/** The path to connect to; undefined where none can be. */
export function findPlace(dir: string): string | undefined {
  const named = namedPath(dir);
  if (named !== undefined) return isPrivate(dir, named) ? named : undefined;
  const path = join(resolve(dir), socketName);
  return fits(path) ? path : undefined;
}

function namedPath(dir: string): string | undefined {
  return unlessMissing(() => readFileSync(join(dir, pathName), 'utf8'));
}

/**
 * Whether the folder of a named path belongs to whoever named it, and to nobody else: in a temporary folder that is
 * open to all, another user may have put one in place of a removed one.
 */
function isPrivate(dir: string, named: string): boolean {
  const folder = dirname(named);
  if (basename(named) !== socketName || !basename(folder).startsWith(folderPrefix)) return false;
  const found = unlessMissing(() => lstatSync(folder));
  return (
    found?.isDirectory() === true && (found.mode & 0o077) === 0 && found.uid === lstatSync(join(dir, pathName)).uid
  );
}

function unlessMissing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    throw error;
  }
}
