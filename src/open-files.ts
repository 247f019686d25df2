/** Reads how many files a process may open, and decides whether that is enough to start a node. */
import { limits } from './limits.js';

/** `text`: the content of `/proc/self/limits` (proc_pid_limits(5)), whose first column is the limit in force. */
export function openFilesProblem(text: string | null): string | null {
  const found = /^Max open files +(\d+)/m.exec(text ?? '')?.[1];
  const max = Number(found ?? Number.POSITIVE_INFINITY);
  if (max >= limits.openFilesMin) return null;
  return `needs at least ${limits.openFilesMin} open files; this process may have ${max}: raise the limit (ulimit -n, LimitNOFILE of systemd)`;
}
