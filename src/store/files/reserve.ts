/**
 * Reserves disk space, in a file, for the few commits that a node must make on a full disk: the claim of its folder at
 * a start, an operator's change of a peer, and the release of the folder. LMDB does not survive every commit without
 * space, so the space must be reserved in advance.
 */
import { randomBytes } from 'node:crypto';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../errors.js';
import { limits } from '../../limits.js';
import { freeBytesOf, isFull } from './full-disk.js';

export class Reserve {
  readonly #dir: string;
  readonly #file: string;

  /** `dir` is the data folder, which must exist. */
  constructor(dir: string) {
    this.#dir = dir;
    this.#file = join(dir, 'reserve');
  }

  /**
   * Extends the file to its full size, or to half of the free space, because the reserve must not fill the disk. The
   * content must not be compressible, so that no file system shrinks it.
   */
  fill(): void {
    this.#write(2);
  }

  /** Writes the file if it is too small, with at most one `part`th of the free space. */
  #write(part: number): void {
    try {
      if (this.#size() >= limits.reserveBytes) return;
      const bytes = Math.min(limits.reserveBytes, Math.floor(freeBytesOf(this.#dir) / part));
      writeFileSync(this.#file, randomBytes(bytes), { mode: 0o600 });
    } catch {
      // The disk is full. The written part stays.
    }
  }

  /** Runs `act`. On a full disk the reserve is freed for `act` and filled again afterwards. */
  async during<T>(act: (isFull: boolean) => Promise<T>): Promise<T> {
    if (!isFull(this.#dir)) return act(false);
    rmSync(this.#file, { force: true });
    try {
      return await act(true);
    } finally {
      this.#write(1);
    }
  }

  /**
   * Runs `act`, and again with the reserve freed if `act` found the disk full. Suits an `act` that may find that the
   * folder and its reserve belong to another process.
   */
  async ifFull<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (!hasCode(error, 'ENOSPC')) throw error;
      return this.during(act);
    }
  }

  #size(): number {
    return statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
  }
}
