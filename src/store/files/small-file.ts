/** Reads small files that others write: a salt, a password's hash, `.env`; replaces files atomically. */
import { readFileSync } from 'node:fs';
import { open, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
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

export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  await file.sync().finally(() => file.close());
}

/**
 * Asynchronous, because a rename waits for the file system's journal, as all syncs do. With `sync` the replacement
 * survives a power cut. Calls for the same file must not overlap.
 */
export async function replaceFile(path: string, text: string, options: { readonly sync: boolean }): Promise<void> {
  const aside = `${path}.tmp`;
  await writeFile(aside, text, { mode: 0o600 });
  if (options.sync) await syncPath(aside);
  await rename(aside, path);
  if (options.sync) await syncPath(dirname(path));
}
