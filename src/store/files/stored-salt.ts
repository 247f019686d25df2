/**
 * The salt of a data folder that belongs to a group: the configured one, or in development the one that was made for
 * it.
 */
import { join } from 'node:path';
import { limits } from '../../limits.js';
import { readIfThere } from './small-file.js';

export type StoredSalt = { readonly ok: true; readonly salt: string } | { readonly ok: false; readonly fault: string };

/** Where a salt that the node made for itself is kept. */
export function saltFile(dir: string): string {
  return join(dir, 'group-salt');
}

/** `configured` is null where no salt is set. A fault is that of a folder which holds a group. */
export function storedSalt(dir: string, configured: string | null): StoredSalt {
  if (configured !== null) return { ok: true, salt: configured };
  const file = saltFile(dir);
  const salt = readIfThere(file);
  if (salt !== null && salt.length >= limits.saltBytesMin) return { ok: true, salt };
  const why = salt === null ? 'this data folder was formed with one' : `${file}, which stands in for it, is cut`;
  return { ok: false, fault: `GROUP_SALT is unset, but ${why}` };
}
