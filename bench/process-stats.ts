/** Processor time and memory of processes and their descendants, from Linux's `/proc`. Zeros on other systems. */
import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second in `/proc/<pid>/stat`: 100 on every Linux that Node runs on. */
const ticksPerS = 100;

/** User and system time so far of processes and their descendants, s, also of children that ended. */
export function cpuSOf(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of withDescendants(pids)) {
    // Fields 14 to 17 of `stat`.
    const fields = statOf(`/proc/${pid}`);
    for (const field of [11, 12, 13, 14]) ticks += Number(fields[field] ?? 0);
  }
  return ticks / ticksPerS;
}

/** Memory of processes and their descendants; shared pages count once. The kernel needs a moment for each process. */
export function residentMbOf(pids: readonly number[]): number {
  const residentKb = withDescendants(pids).reduce((sum, pid) => sum + residentKbOf(pid), 0);
  return (residentKb * 1024) / 1e6;
}

/**
 * Its part of the pages in memory, where each page is divided among the processes that map it (Pss,
 * proc_pid_smaps(5)): PostgreSQL's two dozen share their program and its buffers, which would count once for each of
 * them. Node's program is divided as well, with this process and every other server. Where another's pages may not be
 * read, all that it has of its own and of files.
 */
function residentKbOf(pid: number): number {
  const part = /^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1];
  if (part !== undefined) return Number(part);
  const status = read(`/proc/${pid}/status`);
  const kb = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return kb('RssAnon') + kb('RssFile');
}

/** Whether the process has not ended yet; a zombie has ended. */
export function isRunning(pid: number | undefined): boolean {
  return !['', 'Z', 'X'].includes(statOf(`/proc/${pid}`)[0]!);
}

/** Anonymous memory of one process: without mapped files, whose pages the system reclaims at will. */
export function anonymousMbOf(pid: number): number {
  const kb = Number(/^RssAnon:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
  return (kb * 1024) / 1e6;
}

/** The most that `readMb` returns, read at a fixed interval. */
export class PeakMemory {
  #mb = 0;
  readonly #readMb: () => number;
  readonly #timer: NodeJS.Timeout;

  constructor(readMb: () => number, everyMs: number) {
    this.#readMb = readMb;
    this.#timer = setInterval(() => this.#sample(), everyMs);
  }

  /** The most since the last call, or the start. */
  take(): number {
    this.#sample();
    const mb = this.#mb;
    this.#mb = 0;
    return mb;
  }

  end(): number {
    clearInterval(this.#timer);
    return this.take();
  }

  #sample(): void {
    this.#mb = Math.max(this.#mb, this.#readMb());
  }
}

/** The processes and all of their descendants. */
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
 * Fields of the `stat` of a process or a thread from the third on (proc_pid_stat(5)); one that is empty where it
 * ended. The name before them may hold blanks and brackets.
 */
export function statOf(folder: string): string[] {
  const stat = read(`${folder}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** None where there is no such folder. */
export function namesIn(folder: string): string[] {
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
