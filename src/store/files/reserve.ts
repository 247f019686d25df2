/**
 * A file that reserves disk space for the few commits that a node must make on a full disk: the claim of its folder at
 * a start, an operator's change of a peer, and the release of the folder. LMDB does not survive every commit without
 * space, so the space must be reserved in advance.
 */
import { randomBytes } from 'node:crypto';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
   * Extends the file to its full size, or as far as the disk permits. The content must not be compressible, so that no
   * file system shrinks it.
   */
  fill(): void {
    try {
      if (this.#size() >= limits.reserveBytes) return;
      const bytes = Math.min(limits.reserveBytes, freeBytesOf(this.#dir));
      writeFileSync(this.#file, randomBytes(bytes), { mode: 0o600 });
    } catch {
      // The disk is full. The written part stays.
    }
  }

  /** Runs `act`. On a full disk the reserve is freed for `act` and filled again afterwards. */
  async during<T>(act: () => Promise<T>): Promise<T> {
    if (!isFull(this.#dir)) return act();
    rmSync(this.#file, { force: true });
    try {
      return await act();
    } finally {
      this.fill();
    }
  }

  #size(): number {
    return statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
  }
}
