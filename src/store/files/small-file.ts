/** Small text files that others write: a salt, a password's hash, `.env`. */
import { readFileSync } from 'node:fs';
import { isMissing } from './environment-file.js';

/** A file's text; undefined where there is none. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** A file's text without blanks around it; null where there is none. */
export function readIfThere(path: string): string | null {
  return readText(path)?.trim() ?? null;
}

/**
 * `readIfThere` again and again. A file that cannot be read, as where a flood left no descriptors, is what it was when
 * it last could: whoever asks every few seconds must not end for one failure.
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
