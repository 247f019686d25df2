/** Writes files atomically and asynchronously: a rename waits for the file system's journal, as all syncs do. */
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

/** With `sync` the replacement survives a power cut. Calls for the same file must not overlap. */
export async function replaceFile(path: string, text: string, options: { readonly sync: boolean }): Promise<void> {
  const aside = `${path}.tmp`;
  await writeFile(aside, text, { mode: 0o600 });
  if (options.sync) await syncPath(aside);
  await rename(aside, path);
  if (options.sync) await syncPath(dirname(path));
}
