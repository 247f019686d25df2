/**
 * Which core does what: the server on core 0, the load on core 1, where the machine has two and `taskset` to say so.
 */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

const serverCore = '0';
const loadCore = '1';

let pins: boolean | undefined;
let loadIsPinned = false;

function canPin(): boolean {
  pins ??= availableParallelism() >= 2 && spawnSync('taskset', ['-c', serverCore, 'true']).status === 0;
  return pins;
}

/** Servers started from here on may run on any core. */
export function leaveUnpinned(): void {
  pins = false;
}

/** Moves this process, which makes the load, to its core. */
export function pinLoad(): void {
  if (!canPin()) return;
  loadIsPinned = spawnSync('taskset', ['-a', '-c', '-p', loadCore, String(process.pid)]).status === 0;
}

/** Whether the load has a core on which no server runs; there it never sleeps (decision 211). */
export function loadHasCore(): boolean {
  return canPin() && loadIsPinned;
}

/** The command that runs a server on its core. */
export function onServerCore(command: string, args: readonly string[]): [command: string, args: string[]] {
  return canPin() ? ['taskset', ['-c', serverCore, command, ...args]] : [command, [...args]];
}

/**
 * What a process of Node on its one core is started with, as OPERATING advises for a machine that has no more
 * (decision 177).
 */
export function oneCoreOptions(): string[] {
  return canPin() ? ['--v8-pool-size=1'] : [];
}

/** For results: whether and how processes were pinned. */
export function pinning(): string {
  const server = ['server on core', serverCore, ...oneCoreOptions().map((option) => `with ${option}`)].join(' ');
  const load = loadIsPinned ? `core ${loadCore}, awake` : 'any core: taskset could not move it';
  return canPin() ? `${server}, load on ${load}` : 'not pinned';
}
