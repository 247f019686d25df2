/**
 * Creates a control group of the kernel (cgroups(7)) that bounds the memory of a server and of all its child processes.
 */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atEnd } from './ending.js';

/** Roots of version 1 and version 2 of control groups, and the file with the bound. */
const hierarchies = [
  { root: '/sys/fs/cgroup/memory', bound: 'memory.limit_in_bytes' },
  { root: '/sys/fs/cgroup', bound: 'memory.max' },
] as const;

/**
 * Returns the file to which a process writes its id to join the new group. Null if the system has no control groups, or
 * does not let this process create one. The group is removed when the bench ends.
 */
export function makeMemoryGroup(bytes: number): string | null {
  for (const { root, bound } of hierarchies) {
    const folder = join(root, `ptf-bench-${process.pid}`);
    try {
      mkdirSync(folder);
    } catch {
      continue;
    }
    const remove = (): void => rmdirSync(folder);
    if (existsSync(join(folder, bound))) {
      writeFileSync(join(folder, bound), String(bytes));
      atEnd(remove);
      return join(folder, 'cgroup.procs');
    }
    remove();
  }
  return null;
}
