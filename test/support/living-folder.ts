/** Reads a folder while others write to it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A folder that changes during every read is not one that a test should read. */
const looksMax = 1_000;

export interface LivingFile {
  /** Path below the folder. */
  readonly name: string;
  readonly bytes: Buffer;
}

/**
 * Returns every file under a folder whose name is `wanted`, from one pass in which no file disappeared. A snapshot is
 * renamed when it is complete, and must not be missed under both names.
 */
export function filesOfLiving(dir: string, wanted: (name: string) => boolean = () => true): LivingFile[] {
  for (let look = 1; ; look++) {
    try {
      return readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
        .filter(wanted)
        .map((name) => ({ name, bytes: readFileSync(join(dir, name)) }));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || look === looksMax) throw error;
    }
  }
}
