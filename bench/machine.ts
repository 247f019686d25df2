/**
 * The machine of a measurement: what it is and which build it measures, which core serves and which loads, and other
 * tenants on its host. They occupy the cache that all cores share, which slows everything, and they take cores for
 * short times, which stalls the work there.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, release, type as systemName } from 'node:os';
import { fileURLToPath } from 'node:url';
import { mix } from './load/requests.js';

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

export function pinning(): string {
  const server = ['server on core', serverCore, ...oneCoreOptions().map((option) => `with ${option}`)].join(' ');
  const load = loadIsPinned ? `core ${loadCore}, awake` : 'any core: taskset could not move it';
  return canPin() ? `${server}, load on ${load}` : 'not pinned';
}

export interface Environment {
  readonly node: string;
  readonly system: string;
  readonly cpu: string;
  readonly cores: number;
  /** Commit of this project. Null outside its own git checkout; ends in `+` if the tree has changes. */
  readonly commit: string | null;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Returns the environment. Call it before a run, because the checkout may change during the run. */
export function environment(): Environment {
  const cores = cpus();
  return {
    node: process.version,
    system: `${systemName()} ${release()}`,
    cpu: cores[0]?.model.trim() ?? 'unknown',
    cores: cores.length,
    commit: commit(),
  };
}

function commit(): string | null {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    // A checkout that contains the unpacked project is not the project's own.
    if (git('rev-parse', '--show-prefix').trim() !== '') return null;
    const changes = git('status', '--porcelain', '--untracked-files=no');
    return `${git('rev-parse', '--short', 'HEAD').trim()}${changes === '' ? '' : '+'}`;
  } catch {
    // Without git or a checkout the result has no commit.
    return null;
  }
}

const words = (8 * 1024 * 1024) / Uint32Array.BYTES_PER_ELEMENT;
/** 32-bit words in a cache line. */
const wordsPerLine = 16;
const lines = words / wordsPerLine;
const rounds = 2;

/**
 * Returns the time of a read that misses the caches of its core and should hit the shared one, ns. Each read in 8 MiB
 * depends on the one before, so that the processor cannot prefetch. Takes about 100 ms.
 */
export function sharedCacheReadNs(): number {
  const places = oneCycle();
  walk(places, 1);
  const startedMs = performance.now();
  walk(places, rounds);
  return Math.round(((performance.now() - startedMs) * 1e6) / (rounds * lines));
}

/** Returns reads in one cycle (Sattolo's shuffle): the first word of each line is the index of the next read. */
function oneCycle(): Uint32Array {
  const order = Uint32Array.from({ length: lines }, (_, line) => line);
  for (let last = lines - 1; last > 0; last--) {
    const other = mix(0, last) % last;
    [order[last], order[other]] = [order[other]!, order[last]!];
  }
  const places = new Uint32Array(words);
  for (const [line, next] of order.entries()) places[line * wordsPerLine] = next * wordsPerLine;
  return places;
}

function walk(places: Uint32Array, times: number): void {
  let place = 0;
  for (let step = 0; step < times * lines; step++) place = places[place]!;
  if (place !== 0) throw new Error('the walk did not end where it began');
}

/** Above these bounds no figure of a run is valid, not even a ratio. */
const cacheReadNsMax = 100;
const shareTakenMax = 0.01;

export const strangersMark = 'NOT ITS OWN MACHINE';

/** Returns the note of a run on a shared machine, else undefined. */
export function strangersNote(cacheReadNs: number, taken = 0): string | undefined {
  if (cacheReadNs <= cacheReadNsMax && taken <= shareTakenMax) return undefined;
  return `${strangersMark}: other tenants of the host used so much shared cache or processor time that no figure is valid`;
}

/** Processor time of all cores since the machine started, in ticks of the kernel. */
export interface CoreTime {
  readonly worked: number;
  /** Time in which the machine had work and its host gave the core to another tenant. */
  readonly taken: number;
}

/** Returns null if the system has no such figures. */
export function coreTime(): CoreTime | null {
  try {
    return coreTimeIn(readFileSync('/proc/stat', 'utf8'));
  } catch {
    return null;
  }
}

/** Parses the text of `/proc/stat` (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq, steal. */
export function coreTimeIn(stat: string): CoreTime | null {
  const ticks = /^cpu +(.*)$/m.exec(stat)?.[1]?.split(' ').map(Number) ?? [];
  const [user, nice, system, , , irq, softirq, taken] = ticks;
  if (taken === undefined || Number.isNaN(taken)) return null;
  return { worked: user! + nice! + system! + irq! + softirq!, taken };
}

/** Returns the share of the busy time that the host gave to others; undefined if unknown. */
export function shareTaken(before: CoreTime | null, after: CoreTime | null): number | undefined {
  if (before === null || after === null) return undefined;
  const taken = after.taken - before.taken;
  const wanted = taken + after.worked - before.worked;
  return wanted > 0 ? taken / wanted : undefined;
}
