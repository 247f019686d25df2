/** Tells a disk without room from damage: what fails for the one looks like the other. */
import { statfsSync } from 'node:fs';
import { DiskFullError } from '../../group/ports/storage-errors.js';
import { limits } from '../../limits.js';

/** Bytes that this process may still take on the disk of a folder. */
export function freeBytesOf(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}

/**
 * Throws `DiskFullError` where a write of LMDB on the disk of `dir` might not find its space: it would end the process.
 */
export function demandRoom(dir: string): void {
  const freeBytes = freeBytesOf(dir);
  if (freeBytes >= limits.commitFreeBytes) return;
  throw new DiskFullError(
    `the disk under ${dir} is full: ${freeBytes} bytes are free, and a write needs ${limits.commitFreeBytes}; make room`,
  );
}

/** Whether the disk of a folder has no room left, or next to none. False where nobody can tell. */
export function isFull(dir: string): boolean {
  try {
    return freeBytesOf(dir) < limits.diskFullBytes;
  } catch {
    return false;
  }
}

/**
 * For when a process was killed over files below `dir`: throws `DiskFullError` where the disk explains that. A file
 * that is mapped into memory and cannot have the page that it needs kills (SIGBUS) as one that is cut does, and a write
 * without room may (decision 130).
 */
export function refuseIfFull(dir: string): void {
  if (!isFull(dir)) return;
  throw new DiskFullError(`the disk under ${dir} is full, so what lies there cannot be used; make room and look again`);
}
