/** Reads small files with a bound, and replaces them atomically: a kill leaves either the old or the new text. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { bounds, syncFolder } from '../../client/for-peer.js';
import { diskError, wrongUsage } from '../peer-error.js';

/** Returns the text of a small file; undefined if there is none. Throws `wrong_usage` if it cannot be read. */
export async function readSmallFile(path: string, bytesMax = bounds.peerFileBytes): Promise<string | undefined> {
  try {
    const { size } = await stat(path);
    if (size > bytesMax) throw wrongUsage(`${path} is larger than ${bytesMax} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return undefined;
    if (code !== undefined) throw wrongUsage(`${path} cannot be read: ${code}`);
    throw error;
  }
}

/** Replaces a file atomically and syncs it, readable by its owner only unless `mode` says otherwise. */
export async function replaceSmallFile(path: string, text: string, mode = 0o600): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomUUID().slice(0, 8)}.tmp`;
  try {
    await writeFile(temporary, text, { flag: 'wx', mode, flush: true });
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true });
    throw diskError(error, path) ?? error;
  }
}

/** Reserves room on the disk for a file at `path`, until the result is called. Rejects if it cannot be written. */
export async function reserveRoom(path: string): Promise<() => Promise<void>> {
  const room = `${path}.ptf-probe`;
  await replaceSmallFile(room, ' '.repeat(bounds.peerFileBytes));
  return () => rm(room, { force: true }).catch(() => undefined);
}

/** True if users other than the owner may read or write the file; false if there is no file. */
export async function isOpenToOthers(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && (found.mode & 0o077) !== 0;
}

/** Returns the secret in a file, or creates it. Throws `wrong_usage` if other users may read the file. */
export async function secretInFile(path: string, make: () => string): Promise<string> {
  const text = await readSmallFile(path);
  if (text === undefined) {
    const secret = make();
    await replaceSmallFile(path, `${secret}\n`);
    return secret;
  }
  if (await isOpenToOthers(path)) throw wrongUsage(`${path} is open to other users: chmod 600 ${path}`);
  return text.replace(/\r?\n$/, '');
}

/** Returns the code of a system error, such as `ENOENT`; undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error
    ? error.code
    : undefined;
}
