/** Measures the memory of a process. */
import { readFileSync } from 'node:fs';

/**
 * Returns the anonymous resident memory of a process in MiB; undefined on systems other than Linux. Excludes pages of
 * files: LMDB maps the log once per reading thread, and the system can reclaim such pages.
 */
export function residentMiB(pid: number | undefined): number | undefined {
  try {
    const found = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return found === null ? undefined : Number(found[1]) / 1024;
  } catch {
    return undefined;
  }
}
