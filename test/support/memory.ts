/** What a process holds of the machine's memory. */
import { readFileSync } from 'node:fs';

/**
 * Resident MiB of a process that are its own; undefined where the machine does not tell (anything but Linux). Pages of
 * files are not counted: LMDB maps the log once per thread that reads it, and the system takes such pages back when it
 * likes.
 */
export function residentMiB(pid: number | undefined): number | undefined {
  try {
    const found = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return found === null ? undefined : Number(found[1]) / 1024;
  } catch {
    return undefined;
  }
}
