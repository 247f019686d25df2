/** What a process holds of the machine's memory. */
import { readFileSync } from 'node:fs';

/** Resident MiB of a process; undefined where the machine does not tell (anything but Linux). */
export function residentMiB(pid: number | undefined): number | undefined {
  try {
    const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return found === null ? undefined : Number(found[1]) / 1024;
  } catch {
    return undefined;
  }
}
