/** Read before LMDB is opened, whose table of readers mixes PID namespaces. The highest epoch is valid. */
import { randomUUID } from 'node:crypto';
import { linkSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kill, pid as ownPid } from 'node:process';
import { hasCode } from '../../errors.js';
import { readIfThere, readText, replaceFile } from '../files/small-file.js';

export interface OwnerRecord {
  /** The previous owner's epoch plus one. */
  readonly epoch: number;
  readonly pid: number;
  readonly process_start: string | null;
  readonly boot_id: string | null;
  readonly pid_namespace: string | null;
  /** ISO 8601; for people only. */
  readonly claimed_at: string;
  /** True once the owner closed the folder cleanly. */
  readonly released: boolean;
}

const NAME = /^owner-(\d+)\.json$/;

export function recordOf(identity: ProcessIdentity, epoch: number): OwnerRecord {
  return {
    epoch,
    pid: identity.pid,
    process_start: identity.processStart,
    boot_id: identity.bootId,
    pid_namespace: identity.pidNamespace,
    claimed_at: new Date().toISOString(),
    released: false,
  };
}

export function ownerFileOf(dir: string, epoch: number): string {
  return join(dir, `owner-${epoch}.json`);
}

/** Returns the newest owner of the data folder `dir`; undefined if it never had one. */
export function readOwner(dir: string): OwnerRecord | undefined {
  const epoch = newestEpoch(dir);
  if (epoch === 0) return undefined;
  const record = parsed(readText(ownerFileOf(dir, epoch)) ?? '');
  // A power cut may leave an empty file, whose owner only the heartbeat can show to be alive.
  return record?.epoch === epoch ? record : { ...recordOf(noOwner, epoch), claimed_at: 'an unknown time' };
}

/** Returns whether no process owns the data folder `dir` but this one: its newest owner released it, or is this. */
export function isOwnOrFree(dir: string, { pid, processStart, bootId, pidNamespace }: ProcessIdentity): boolean {
  const owner = readOwner(dir);
  if (owner?.released) return true;
  const isSame = owner?.pid === pid && owner.process_start === processStart;
  return isSame && owner.boot_id === bootId && owner.pid_namespace === pidNamespace;
}

/** Returns the highest epoch of the files in `dir`; 0 for none. */
export function newestEpoch(dir: string): number {
  return Math.max(0, ...epochsIn(dir));
}

/** Returns false and changes nothing if another process has the epoch of `record` or a later one. */
export function putOwner(dir: string, record: OwnerRecord): boolean {
  const file = ownerFileOf(dir, record.epoch);
  const aside = join(dir, `.tmp-owner-${randomUUID()}`);
  try {
    writeFileSync(aside, textOf(record), { mode: 0o600 });
    // If two processes link the same name, one succeeds, and the file is complete from then on.
    linkSync(aside, file);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
  // A paused process may link an epoch that others have already passed.
  const isNewest = newestEpoch(dir) === record.epoch;
  const stale = isNewest ? epochsIn(dir).filter((epoch) => epoch < record.epoch) : [record.epoch];
  for (const epoch of stale) rmSync(ownerFileOf(dir, epoch), { force: true });
  return isNewest;
}

export async function putReleased(dir: string, record: OwnerRecord): Promise<void> {
  await replaceFile(ownerFileOf(dir, record.epoch), textOf({ ...record, released: true }), { sync: false });
}

export function parsed(text: string): OwnerRecord | undefined {
  try {
    const record = JSON.parse(text) as OwnerRecord;
    return Number.isSafeInteger(record?.epoch) ? record : undefined;
  } catch {
    return undefined;
  }
}

const noOwner: ProcessIdentity = { pid: 0, processStart: null, bootId: null, pidNamespace: null };

function epochsIn(dir: string): number[] {
  return readdirSync(dir).flatMap((name) => NAME.exec(name)?.slice(1).map(Number) ?? []);
}

function textOf(record: OwnerRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** Identifies one process even after its number was reused. Fields are null if the system does not provide them. */
export interface ProcessIdentity extends Readonly<ReturnType<typeof thisProcess>> {}

export function thisProcess() {
  return {
    pid: ownPid,
    /** Clock ticks from boot to the start of the process. */
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

/** For `ptf doctor`. Writes nothing if another process may own the folder, or the folder cannot be written to. */
export function keepLastLine(dir: string, line: string): void {
  try {
    if (isOwnOrFree(dir, thisProcess())) writeFileSync(join(dir, 'last-line'), line, { mode: 0o600 });
  } catch {
    // The line is a help for people, and the process may be ending because of the disk.
  }
}

export function readLastLine(dir: string): string | undefined {
  try {
    const { time, msg } = JSON.parse(readText(join(dir, 'last-line')) ?? '{}') as { time?: unknown; msg?: unknown };
    return typeof time === 'string' && typeof msg === 'string' ? `${time}: ${msg}` : undefined;
  } catch {
    return undefined;
  }
}
