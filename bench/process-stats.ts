/** What Linux tells of processes: processor time and memory, of one process and all that it started. Zeros elsewhere. */
import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second in `/proc/<pid>/stat`: 100 on every Linux that Node runs on. */
const ticksPerS = 100;

export interface ProcessUse {
  /** User and system time so far, s, also of children that ended. */
  readonly cpuS: number;
  readonly residentMb: number;
}

/** Sums over the processes and their descendants. */
export function useOf(pids: readonly number[]): ProcessUse {
  let ticks = 0;
  let residentKb = 0;
  for (const pid of withDescendants(pids)) {
    // Fields 14 to 17 of `stat`; the name in field 2 may hold blanks and brackets.
    const stat = read(`/proc/${pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    for (const field of [11, 12, 13, 14]) ticks += Number(fields[field] ?? 0);
    residentKb += residentOf(pid);
  }
  return { cpuS: ticks / ticksPerS, residentMb: (residentKb * 1024) / 1e6 };
}

/** Pages of its own: those that PostgreSQL's processes share would count once for each of them. */
function residentOf(pid: number): number {
  const status = read(`/proc/${pid}/status`);
  const kb = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return kb('RssAnon') + kb('RssFile');
}

/** Memory of one process that is no file's: what is mapped of a file the system takes back at will. */
export function anonymousMbOf(pid: number): number {
  const kb = Number(/^RssAnon:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
  return (kb * 1024) / 1e6;
}

function withDescendants(pids: readonly number[]): number[] {
  const children = childrenByParent();
  const found = [...pids];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const name of list('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = read(`/proc/${name}/stat`);
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  return children;
}

function list(folder: string): string[] {
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
