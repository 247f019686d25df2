/** Identifies processes, and tests whether they still run. */
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { kill, pid as ownPid } from 'node:process';
import { hasCode } from '../../errors.js';
import { readIfThere } from '../files/small-file.js';

/** Identifies one process even after its number was reused. Fields are null if the system does not provide them. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks from boot to the start of the process. */
  readonly processStart: string | null;
  readonly bootId: string | null;
  readonly pidNamespace: string | null;
}

export function thisProcess(): ProcessIdentity {
  return {
    pid: ownPid,
    processStart: processStartOf(ownPid),
    bootId: readIfThere('/proc/sys/kernel/random/boot_id'),
    pidNamespace: readPidNamespace(),
  };
}

/** Field 22 of `/proc/<pid>/stat`, whose field 2 may hold blanks and brackets. Null for none and for a zombie. */
export function processStartOf(pid: number): string | null {
  const stat = readIfThere(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
}

/** Returns whether the process has this file open; null if the system does not let this user see it. */
export function hasOpen(pid: number, file: string): boolean | null {
  try {
    const wanted = statSync(file);
    return readdirSync(`/proc/${pid}/fd`).some((descriptor) => {
      const found = statSync(`/proc/${pid}/fd/${descriptor}`, { throwIfNoEntry: false });
      return found?.ino === wanted.ino && found.dev === wanted.dev;
    });
  } catch {
    return null;
  }
}

function readPidNamespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return null;
  }
}

/** Returns whether the process runs. Signal 0 only tests. A process of another user counts as running. */
export function runs(pid: number): boolean {
  try {
    return kill(pid, 0);
  } catch (error) {
    return !hasCode(error, 'ESRCH');
  }
}
