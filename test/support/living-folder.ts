/** Reads a folder in which others write meanwhile. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A folder that never holds still for one look is none that a test should read. */
const looksMax = 1_000;

export interface LivingFile {
  /** Below the folder. */
  readonly name: string;
  readonly bytes: Buffer;
}

/**
 * Every file under a folder whose name is `wanted`, from one look during which none of them went: a snapshot is renamed
 * when it is whole, and must not be missed under both names.
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
