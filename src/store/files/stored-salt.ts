/** Returns the salt of a data folder with a group: the configured salt, or in development the generated one. */
import { join } from 'node:path';
import { limits } from '../../limits.js';
import { readIfThere } from './small-file.js';

export type StoredSalt = { readonly ok: true; readonly salt: string } | { readonly ok: false; readonly fault: string };

export function saltFile(dir: string): string {
  return join(dir, 'group-salt');
}

/** Returns the salt. `configured` is null if no salt is set. A fault applies only to a folder with a group. */
export function storedSalt(dir: string, configured: string | null): StoredSalt {
  if (configured !== null) return { ok: true, salt: configured };
  const file = saltFile(dir);
  const salt = readIfThere(file);
  if (salt !== null && salt.length >= limits.saltBytesMin) return { ok: true, salt };
  const why = salt === null ? 'this data folder was formed with one' : `${file}, the generated salt, is truncated`;
  return { ok: false, fault: `GROUP_SALT is unset, but ${why}` };
}
