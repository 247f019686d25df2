/** Refuses work on a full disk, which would look like damage: both kill the process in the same way. */
import { statfsSync } from 'node:fs';
import { DiskFullError } from '../../group/ports/storage-errors.js';
import { limits } from '../../limits.js';

export function freeBytesOf(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}

/** Throws `DiskFullError` if a write of LMDB, which would end the process, might not find enough space. */
export function refuseWithoutCommitSpace(dir: string): void {
  const freeBytes = freeBytesOf(dir);
  if (freeBytes >= limits.commitFreeBytes) return;
  throw new DiskFullError(
    `the disk under ${dir} is full: ${freeBytes} bytes are free, and a write needs ${limits.commitFreeBytes}; free disk space`,
  );
}

/** Returns whether the disk of a folder is full or nearly full. False if this cannot be determined. */
export function isFull(dir: string): boolean {
  try {
    return freeBytesOf(dir) < limits.diskFullBytes;
  } catch {
    return false;
  }
}

/** Explains a killed process: mapped pages and writes without space kill it as a cut file does (decision 130). */
export function refuseIfFull(dir: string): void {
  if (!isFull(dir)) return;
  throw new DiskFullError(`the disk under ${dir} is full, so its files cannot be used; free disk space and try again`);
}
