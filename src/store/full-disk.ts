/** Tells a disk without room from damage: what fails for the one looks like the other. */
import { statfsSync } from 'node:fs';
import { DiskFullError } from '../group/ports.js';
import { limits } from '../limits.js';

/** Whether the disk of a folder has no room left, or next to none. False where nobody can tell. */
export function isFull(dir: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize < limits.diskFullBytes;
  } catch {
    return false;
  }
}

/**
 * For when a process was killed over files below `dir`: throws `DiskFullError` where the disk explains that. A file that is mapped into
 * memory and cannot have the page that it needs kills (SIGBUS) as one that is cut does, and a write without room may (decision 130).
 */
export function refuseIfFull(dir: string): void {
  if (!isFull(dir)) return;
  throw new DiskFullError(`the disk under ${dir} is full, so what lies there cannot be used; make room and look again`);
}
