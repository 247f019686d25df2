/**
 * The path of the operator's socket: `operator.sock` in the data folder, or, if that is too long for a socket, in a
 * private folder of the system's temporary folder, which the file `operator.path` names.
 */
import { lstatSync, mkdtempSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { hasCode } from '../../errors.js';
import { limits } from '../../limits.js';

/** Path prefix to which requests are posted. */
export const commandPath = '/v1/';

const socketName = 'operator.sock';
const pathName = 'operator.path';
const folderPrefix = 'ptf-';

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= limits.socketPathBytes;
}

/**
 * Removes the remains of a killed node and returns the path to listen on. Only the owner of the folder may call this:
 * its lock proves that no other process listens.
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

/** Removes the socket of `dir`, wherever it lies. A missing socket is no error. */
export function leavePlace(dir: string): void {
  rmSync(join(dir, socketName), { force: true });
  const named = namedPath(dir);
  if (named === undefined) return;
  if (isPrivate(dir, named)) {
    rmSync(named, { force: true });
    // Not recursive, because the folder contains nothing of ours any more.
    rmdirSync(dirname(named));
  }
  rmSync(join(dir, pathName), { force: true });
}

/** Returns the path to connect to; undefined if there is none. */
export function findSocketPath(dir: string): string | undefined {
  const named = namedPath(dir);
  if (named !== undefined) return isPrivate(dir, named) ? named : undefined;
  const path = join(resolve(dir), socketName);
  return fits(path) ? path : undefined;
}

function namedPath(dir: string): string | undefined {
  return unlessMissing(() => readFileSync(join(dir, pathName), 'utf8'));
}

/**
 * True if the folder of a named path belongs to who named it, alone: in a temporary folder open to all, another user
 * may have created one in place of a removed one.
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
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
