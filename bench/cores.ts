/** Assigns the server to core 0 and the load to core 1, if the machine has two cores and `taskset`. */
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

/** Lets servers that are started from now on run on any core. */
export function leaveUnpinned(): void {
  pins = false;
}

/** Moves this process, which generates the load, to its core. */
export function pinLoad(): void {
  if (!canPin()) return;
  loadIsPinned = spawnSync('taskset', ['-a', '-c', '-p', loadCore, String(process.pid)]).status === 0;
}

/**
 * Returns whether the load has a core without a server. The load never sleeps on such a core: the server would pay for
 * waking it, on a virtual machine up to a fifth of its time.
 */
export function loadHasCore(): boolean {
  return canPin() && loadIsPinned;
}

export function onServerCore(command: string, args: readonly string[]): [command: string, args: string[]] {
  return canPin() ? ['taskset', ['-c', serverCore, command, ...args]] : [command, [...args]];
}

/** Returns the options of Node on a single core, as docs/operating/scale.md advises for a machine with one core. */
export function oneCoreOptions(): string[] {
  return canPin() ? ['--v8-pool-size=1'] : [];
}

/** Describes the pinning of server and load for the result. */
export function pinning(): string {
  const server = ['server on core', serverCore, ...oneCoreOptions().map((option) => `with ${option}`)].join(' ');
  const load = loadIsPinned ? `core ${loadCore}, awake` : 'any core: taskset could not move it';
  return canPin() ? `${server}, load on ${load}` : 'not pinned';
}
