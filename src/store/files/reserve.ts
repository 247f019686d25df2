/** Reserves disk space for the commits that a node must make on a full disk, which LMDB may not survive. */
import { randomBytes } from 'node:crypto';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../errors.js';
import { limits } from '../../limits.js';
import { freeBytesOf, isFull } from './full-disk.js';

export class Reserve {
  readonly #file: string;

  /** `dir` is the data folder, which must exist. */
  constructor(private readonly dir: string) {
    this.#file = join(dir, 'reserve');
  }

  /** At most half of the free space: it must not fill the disk. Random, so that no file system compresses it. */
  fill(): void {
    this.#write(2);
  }

  /** Writes the file if it is too small, with at most one `part`th of the free space. */
  #write(part: number): void {
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
    try {
      return await act(true);
    } finally {
      this.#write(1);
    }
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
