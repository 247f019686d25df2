/**
 * Writes files atomically: to a temporary name, synced, then renamed. All calls are asynchronous, because a rename or
 * an open waits for the file system's journal, and so for all other syncs on the disk.
 */
import { open, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Replaces `path` with `text` atomically, readable by its owner only. With `sync` the replacement survives a power cut.
 * Calls for the same file must not overlap.
 */
export async function replaceFile(path: string, text: string, options: { readonly sync: boolean }): Promise<void> {
  const aside = `${path}.tmp`;
  await writeFile(aside, text, { mode: 0o600 });
  if (options.sync) await syncPath(aside);
  await rename(aside, path);
  if (options.sync) await syncPath(dirname(path));
}
