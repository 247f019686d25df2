/**
 * Reads processor time and memory of processes and their descendants from Linux's `/proc`. Returns zeros on other
 * systems.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second in `/proc/<pid>/stat`: 100 on every Linux that Node runs on. */
const ticksPerS = 100;

/** Returns user and system time so far of processes and their descendants, s. Includes children that ended. */
export function cpuSOf(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of withDescendants(pids)) {
    // Fields 14 to 17 of `stat`.
    const fields = statOf(`/proc/${pid}`);
    for (const field of [11, 12, 13, 14]) ticks += Number(fields[field] ?? 0);
  }
  return ticks / ticksPerS;
}

/**
 * Returns the memory of processes and their descendants. Shared pages count once. The kernel takes noticeable time for
 * each process.
 */
export function residentMbOf(pids: readonly number[]): number {
  const residentKb = withDescendants(pids).reduce((sum, pid) => sum + residentKbOf(pid), 0);
  return (residentKb * 1024) / 1e6;
}

/**
 * Returns the process's proportional share of memory (Pss, proc_pid_smaps(5)): each page is divided among the processes
 * that map it. PostgreSQL's two dozen processes share their program and buffers, which would otherwise count for each
 * of them. Node's program is divided among this process and all servers too. If the pages may not be read, returns all
 * anonymous and file memory of the process.
 */
function residentKbOf(pid: number): number {
  const part = /^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1];
  if (part !== undefined) return Number(part);
  return statusKbOf(pid, 'RssAnon') + statusKbOf(pid, 'RssFile');
}

function statusKbOf(pid: number, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
}

/** Returns whether the process is running. A zombie has ended. */
export function isRunning(pid: number | undefined): boolean {
  return !['', 'Z', 'X'].includes(statOf(`/proc/${pid}`)[0]!);
}

/** Returns the anonymous memory of one process, without mapped files, whose pages the system can reclaim. */
export function anonymousMbOf(pid: number): number {
  return (statusKbOf(pid, 'RssAnon') * 1024) / 1e6;
}

/** Returns the greatest resident memory of one process so far; 0 if it has ended. */
export function peakMbOf(pid: number): number {
  return (statusKbOf(pid, 'VmHWM') * 1024) / 1e6;
}

/** Samples `readMb` at a fixed interval. `take` returns the maximum since the last call, or since the start. */
export function peakMemory(readMb: () => number, everyMs: number) {
  let peakMb = 0;
  const sample = (): void => {
    peakMb = Math.max(peakMb, readMb());
  };
  const timer = setInterval(sample, everyMs);
  const take = (): number => {
    sample();
    const mb = peakMb;
    peakMb = 0;
    return mb;
  };
  return {
    take,
    end(): number {
      clearInterval(timer);
      return take();
    },
  };
}

export function withDescendants(pids: readonly number[]): number[] {
  const children = childrenByParent();
  const found = [...pids];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const name of namesIn('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(statOf(`/proc/${name}`)[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  return children;
}

/**
 * Returns the fields of the `stat` of a process or thread from the third on (proc_pid_stat(5)), or one empty field if
 * it ended. The name before them may contain blanks and brackets.
 */
function statOf(folder: string): string[] {
  const stat = read(`${folder}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Returns no names if the folder does not exist. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    // The process ended meanwhile, or this system has no /proc.
    return '';
  }
}
