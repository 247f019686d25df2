/** Which process is which, and whether it still runs. */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { kill, pid as ownPid } from 'node:process';
import { isMissing } from '../files/environment-file.js';

/** Tells one process from all others, also after its number was used again. Null where the system does not say. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks from boot to the start of the process. */
  readonly processStart: string | null;
  readonly bootId: string | null;
  readonly pidNamespace: string | null;
}

/** The identity of this process. */
export function thisProcess(): ProcessIdentity {
  return {
    pid: ownPid,
    processStart: processStartOf(ownPid),
    bootId: readText('/proc/sys/kernel/random/boot_id'),
    pidNamespace: readPidNamespace(),
  };
}

/**
 * Field 22 of `/proc/<pid>/stat`; the name in field 2 may hold blanks and brackets. Null where there is no such
 * process, or only what its parent has not collected yet: a killed node stays a zombie for as long as its parent likes.
 */
export function processStartOf(pid: number): string | null {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
}

/** Whether the process holds this file open; null where the system does not let this user see it. */
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

export function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (isMissing(error) || hasExited(error)) return null;
    throw error;
  }
}

/** A process that ended between opening and reading its file. */
function hasExited(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ESRCH';
}

/** Signal 0 only asks. A process of another user counts as running. */
export function runs(pid: number): boolean {
  try {
    return kill(pid, 0);
  } catch (error) {
    return !hasExited(error);
  }
}
