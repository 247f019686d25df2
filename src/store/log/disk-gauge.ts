/** Measures the disk under a data folder with plain calls of the file system; it opens nothing. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DiskGauge, DiskUse } from '../../group/ports/disk.js';
import { dataFileOf, isMissing } from '../files/environment-file.js';
import { freeBytesOf } from '../files/full-disk.js';
import { logFolderOf } from './lmdb-log.js';

/** Whole, replaced, or being built or removed: all of them take space. */
const SNAPSHOT = /^(?:\.(?:old|tmp|tmp-gone)-)?snapshot-\d{16}$/;
const COMPLETE = /^snapshot-/;

export class FolderGauge implements DiskGauge {
  readonly #dir: string;

  /** `dir` is the data folder, which exists. */
  constructor(dir: string) {
    this.#dir = dir;
  }

  freeBytes(): number {
    return freeBytesOf(this.#dir);
  }

  async look(): Promise<DiskUse> {
    const names = (await readdir(this.#dir)).filter((name) => SNAPSHOT.test(name));
    const sizes = await Promise.all(names.map((name) => bytesOf(join(this.#dir, name))));
    const newest = names
      .filter((name) => COMPLETE.test(name))
      .sort()
      .at(-1);
    return {
      freeBytes: this.freeBytes(),
      logBytes: await bytesOf(logFolderOf(this.#dir)),
      snapshotsBytes: sizes.reduce((sum, bytes) => sum + bytes, 0),
      newestSnapshotBytes: newest === undefined ? 0 : sizes[names.indexOf(newest)]!,
    };
  }
}

/** The size of an environment's data file; 0 where it is gone meanwhile. */
async function bytesOf(folder: string): Promise<number> {
  try {
    return (await stat(dataFileOf(folder))).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}
