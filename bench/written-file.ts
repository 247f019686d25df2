/** Writes what a run found: where it cannot, the error names the file, which a full disk does not by itself. */
import { writeFileSync } from 'node:fs';

export function writeTold(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new Error(`${file} cannot be written: ${(error as Error).message}`);
  }
}
