/** Measures the disk under a data folder by plain file system calls, without opening any store. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../errors.js';
import type { DiskGauge, DiskUse } from '../../group/ports/storage.js';
import { freeBytesOf } from '../files/full-disk.js';
import { dataFileOf } from '../files/lmdb-file.js';
import { logFolderOf } from './lmdb-log.js';

/** Complete, replaced, incomplete and leaving snapshots; all use space. */
const SNAPSHOT = /^(?:\.(?:old|tmp|tmp-gone)-)?snapshot-\d{16}$/;
const COMPLETE = /^snapshot-/;

export class FolderGauge implements DiskGauge {
  constructor(private readonly dir: string) {}

  freeBytes(): number {
    return freeBytesOf(this.dir);
  }

  async look(): Promise<DiskUse> {
    const names = (await readdir(this.dir)).filter((name) => SNAPSHOT.test(name));
    const sizes = await Promise.all(names.map((name) => bytesOf(join(this.dir, name))));
    const newest = names
      .filter((name) => COMPLETE.test(name))
      .sort()
      .at(-1);
    return {
      freeBytes: this.freeBytes(),
      logBytes: await bytesOf(logFolderOf(this.dir)),
      snapshotsBytes: sizes.reduce((sum, bytes) => sum + bytes, 0),
      newestSnapshotBytes: newest === undefined ? 0 : sizes[names.indexOf(newest)]!,
    };
  }
}

/** Returns the size of an environment's data file; 0 if it was removed meanwhile. */
async function bytesOf(folder: string): Promise<number> {
  try {
    return (await stat(dataFileOf(folder))).size;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 0;
    throw error;
  }
}
