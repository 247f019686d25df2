/** Small files of the data folder that others write, such as a password's hash. */
import { readFileSync } from 'node:fs';
import { isMissing } from './environment-file.js';

/** A file's text without blanks around it; null where there is none. */
export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/**
 * `readIfThere` again and again. A file that cannot be read, as where a flood left no descriptors, is what it was when it last could:
 * whoever asks every few seconds must not end for one failure.
 */
export function rereader(path: string): () => string | null {
  let last: string | null = null;
  return () => {
    try {
      last = readIfThere(path);
    } catch {
      // It counts as unchanged.
    }
    return last;
  };
}
