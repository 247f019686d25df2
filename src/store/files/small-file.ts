/** Reads small text files that others write: a salt, a password's hash, `.env`. */
import { readFileSync } from 'node:fs';
import { hasCode } from '../../errors.js';

/** Returns a file's text; undefined if the file does not exist. */
export function readText(path: string): string | undefined {
  return readBytes(path)?.toString('utf8');
}

export function readBytes(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    // A process may end between opening and reading its file in /proc.
    if (hasCode(error, 'ENOENT', 'ESRCH')) return undefined;
    throw error;
  }
}

/** Returns a file's text without surrounding blanks; null if the file does not exist. */
export function readIfThere(path: string): string | null {
  return readText(path)?.trim() ?? null;
}

/**
 * Returns a function that repeats `readIfThere`. If the file cannot be read (for example without free descriptors), the
 * function returns the last known text, because a caller that polls must not end for one failure.
 */
export function rereader(path: string): () => string | null {
  let last: string | null = null;
  return () => {
    try {
      last = readIfThere(path);
    } catch {
      // Counts as unchanged.
    }
    return last;
  };
}
