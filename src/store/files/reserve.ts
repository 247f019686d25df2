/**
 * A file that holds disk space for the few commits a node must make on a full disk: the claim of its folder at a start,
 * an operator's change of a peer, and the release of the folder. LMDB does not survive every commit that finds no
 * space, so the space must exist before.
 */
import { randomBytes } from 'node:crypto';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../../limits.js';
import { freeBytesOf, isFull } from './full-disk.js';

export class Reserve {
  readonly #dir: string;
  readonly #file: string;

  /** `dir` is the data folder, which exists. */
  constructor(dir: string) {
    this.#dir = dir;
    this.#file = join(dir, 'reserve');
  }

  /**
   * Makes the file as large as it should be, or half of what the disk has free: it must not fill the disk itself. A
   * file system that compresses must not shrink it.
   */
  fill(): void {
    this.#write(2);
  }

  /** Writes the file where it is too small, into at most one `part`th of what the disk has free. */
  #write(part: number): void {
    try {
      if (this.#size() >= limits.reserveBytes) return;
      const bytes = Math.min(limits.reserveBytes, Math.floor(freeBytesOf(this.#dir) / part));
      writeFileSync(this.#file, randomBytes(bytes), { mode: 0o600 });
    } catch {
      // A full disk: what could be written of it stays.
    }
  }

  /** Runs `act`. On a full disk `act` finds the space of the reserve free, which is taken again afterwards. */
  async during<T>(act: () => Promise<T>): Promise<T> {
    if (!isFull(this.#dir)) return act();
    rmSync(this.#file, { force: true });
    try {
      return await act();
    } finally {
      this.#write(1);
    }
  }

  /**
   * Runs `act`, and once more with the space of the reserve free where `act` found the disk full: for what may find
   * that the folder and its reserve belong to another process.
   */
  async ifFull<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
      return this.during(act);
    }
  }

  #size(): number {
    return statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
  }
}
