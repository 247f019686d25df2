/** A small file system of its own, to be filled up: a tmpfs, where this process may mount one. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasCode } from '../../src/errors.js';

export class SmallDisk {
  /** The mount point. */
  readonly path: string;
  readonly #ballast: string;
  readonly #unmountNow = () => void spawnSync('umount', ['-l', this.path]);

  private constructor(path: string) {
    this.path = path;
    this.#ballast = join(path, 'ballast');
    process.once('exit', this.#unmountNow);
  }

  /** Null where mounting is not permitted here. */
  static mount(mb: number): SmallDisk | null {
    const path = mkdtempSync(join(tmpdir(), 'ptf-disk-'));
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mb}m,mode=700`, 'none', path]);
    if (mounted.status === 0) return new SmallDisk(path);
    rmdirSync(path);
    return null;
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.path);
    return bavail * bsize;
  }

  /** Fills the free space except `butBytes`. Concurrent writes of others may leave less. */
  fill(butBytes: number): void {
    rmSync(this.#ballast, { force: true });
    try {
      writeFileSync(this.#ballast, Buffer.alloc(Math.max(0, this.freeBytes - butBytes)));
    } catch (error) {
      if (!hasCode(error, 'ENOSPC')) throw error;
    }
  }

  /** Fills all free space without blocking this process, which may run clients and proxies. */
  async fillBeside(): Promise<void> {
    rmSync(this.#ballast, { force: true });
    await writeFile(this.#ballast, Buffer.alloc(this.freeBytes)).catch((error: unknown) => {
      if (!hasCode(error, 'ENOSPC')) throw error;
    });
  }

  /** Gives back what `fill` took. */
  clear(): void {
    rmSync(this.#ballast, { force: true });
  }

  /** Removes a folder on it. */
  remove(name: string): void {
    rmSync(join(this.path, name), { recursive: true, force: true });
  }

  unmount(): void {
    process.off('exit', this.#unmountNow);
    // A thread that a stop had to end may keep its files open for as long as this process lives.
    if (spawnSync('umount', [this.path]).status !== 0) this.#unmountNow();
    rmSync(this.path, { recursive: true, force: true });
  }
}
