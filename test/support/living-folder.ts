/** Reads a folder while others write to it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../src/errors.js';

/** A folder that changes during every read is not one that a test should read. */
const looksMax = 1_000;

export interface LivingFile {
  /** Path below the folder. */
  readonly name: string;
  readonly bytes: Buffer;
}

/** Closing this file releases every lock of the process on it, including that of a node in the same process. */
const LOCK_FILE = 'lock.mdb';

/**
 * Returns every file under a folder, from one pass in which no file disappeared. A snapshot is renamed when it is
 * complete, and must not be missed under both names. LMDB's lock files are left alone.
 */
export function filesOfLiving(dir: string): LivingFile[] {
  for (let look = 1; ; look++) {
    try {
      return readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name !== LOCK_FILE)
        .map((entry) => join(entry.parentPath, entry.name))
        .map((path) => ({ name: path.slice(dir.length + 1), bytes: readFileSync(path) }));
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || look === looksMax) throw error;
    }
  }
}

/** Returns all bytes of a folder's files, one after the other. */
export const bytesOfLiving = (dir: string): Buffer => Buffer.concat(filesOfLiving(dir).map(({ bytes }) => bytes));
