/**
 * Files that are there whole or not at all: written aside, synced, renamed. Never on the calling thread: a rename or an
 * open waits for the file system's journal, and so for the syncs of everything else on the disk.
 */
import { open, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Syncs a file or a folder (its list of names) to disk. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Replaces `path` with `text` in one step, readable by its owner only; with `sync`, also after a power cut. Not while
 * another call replaces the same file.
 */
export async function replaceFile(path: string, text: string, options: { readonly sync: boolean }): Promise<void> {
  const aside = `${path}.tmp`;
  await writeFile(aside, text, { mode: 0o600 });
  if (options.sync) await syncPath(aside);
  await rename(aside, path);
  if (options.sync) await syncPath(dirname(path));
}
