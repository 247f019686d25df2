/** Reads small text files that others write: a salt, a password's hash, `.env`. */
import { readFileSync } from 'node:fs';
import { hasCode } from '../../errors.js';

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

export function readIfThere(path: string): string | null {
  return readText(path)?.trim() ?? null;
}

/** Repeats `readIfThere`. For a file that cannot be read, returns the last known text: a poll must not end for that. */
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
