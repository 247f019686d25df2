/** Files that are there whole or not at all: written aside, synced, renamed. */
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Syncs a file or a folder (its list of names) to disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Replaces `path` with `text` in one step, readable by its owner only; with `sync`, also after a power cut. */
export function replaceFile(path: string, text: string, options: { readonly sync: boolean }): void {
  const aside = `${path}.tmp`;
  writeFileSync(aside, text, { mode: 0o600 });
  if (options.sync) syncPath(aside);
  renameSync(aside, path);
  if (options.sync) syncPath(dirname(path));
}
