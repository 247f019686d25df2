/** Refuses work on a full disk, which would look like damage, and reserves space for commits that must be made then. */
import { randomBytes } from 'node:crypto';
import { rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../errors.js';
import { DiskFullError } from '../../group/ports/storage.js';
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

/** NaN, which is neither too little nor enough, if the free space cannot be determined. */
export function knownFreeBytesOf(dir: string): number {
  try {
    return freeBytesOf(dir);
  } catch {
    return Number.NaN;
  }
}

/** Returns whether the disk of a folder is full or nearly full. */
export function isFull(dir: string): boolean {
  return knownFreeBytesOf(dir) < limits.diskFullBytes;
}

/** Explains a killed process: mapped pages and writes without space kill it as a cut file does (decision 130). */
export function refuseIfFull(dir: string): void {
  if (!isFull(dir)) return;
  throw new DiskFullError(`the disk under ${dir} is full, so its files cannot be used; free disk space and try again`);
}

export class Reserve {
  readonly #file: string;

  /** `dir` is the data folder, which must exist. */
  constructor(private readonly dir: string) {
    this.#file = join(dir, 'reserve');
  }

  /**
   * Writes the file if it is too small: at most half, or else one `part`th, of the free space, since it must not fill
   * the disk. Random, so that no file system compresses it.
   */
  fill(part = 2): void {
    try {
      if ((statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0) >= limits.reserveBytes) return;
      const bytes = Math.min(limits.reserveBytes, Math.floor(freeBytesOf(this.dir) / part));
      writeFileSync(this.#file, randomBytes(bytes), { mode: 0o600 });
    } catch {
      // The disk is full. The written part stays.
    }
  }

  /** Runs `act`. On a full disk the reserve is freed for `act` and filled again afterwards. */
  async during<T>(act: (isFull: boolean) => Promise<T>): Promise<T> {
    if (!isFull(this.dir)) return act(false);
    rmSync(this.#file, { force: true });
    return act(true).finally(() => this.fill(1));
  }

  /** Runs `act`, and again with the reserve freed if the disk was full: `act` may find the folder another process's. */
  async ifFull<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (!hasCode(error, 'ENOSPC')) throw error;
      return this.during(act);
    }
  }
}
