/**
 * Detects other tenants on the host of a rented machine. They take the cache that all cores share, which slows
 * everything, and they take the cores themselves for a moment, which stalls whatever ran there.
 */
import { readFileSync } from 'node:fs';
import { mix } from './load/requests.js';

const words = (8 * 1024 * 1024) / Uint32Array.BYTES_PER_ELEMENT;
/** A line of the cache. */
const wordsPerLine = 16;
const lines = words / wordsPerLine;
const rounds = 2;

/**
 * Time of a read that misses the caches of its core and should hit the shared one, ns. Each read in 8 MiB depends on
 * the one before, so that the processor cannot fetch ahead. Takes some 100 ms.
 */
export function sharedCacheReadNs(): number {
  const places = oneCycle();
  walk(places, 1);
  const startedMs = performance.now();
  walk(places, rounds);
  return Math.round(((performance.now() - startedMs) * 1e6) / (rounds * lines));
}

/** The first word of each line holds the place of the next read; the places form one cycle (Sattolo's shuffle). */
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

/** Beyond these bounds no figure of a run means anything, not even a ratio. */
const cacheReadNsMax = 100;
const shareTakenMax = 0.01;

export const strangersMark = 'NOT ITS OWN MACHINE';

/** The note of a run whose machine was shared; undefined where it was not. */
export function strangersNote(cacheReadNs: number, taken = 0): string | undefined {
  if (cacheReadNs <= cacheReadNsMax && taken <= shareTakenMax) return undefined;
  return `${strangersMark}: neighbours on the host took so much of its shared cache or of its time that no figure here means anything`;
}

/** Processor time of all cores since the machine started, in ticks of the kernel. */
export interface CoreTime {
  readonly worked: number;
  /** Time in which the machine had work and its host gave the core to another tenant. */
  readonly taken: number;
}

/** Null where the system does not tell. */
export function coreTime(): CoreTime | null {
  try {
    return coreTimeIn(readFileSync('/proc/stat', 'utf8'));
  } catch {
    return null;
  }
}

/** From the text of `/proc/stat` (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq, steal. */
export function coreTimeIn(stat: string): CoreTime | null {
  const ticks = /^cpu +(.*)$/m.exec(stat)?.[1]?.split(' ').map(Number) ?? [];
  const [user, nice, system, , , irq, softirq, taken] = ticks;
  if (taken === undefined || Number.isNaN(taken)) return null;
  return { worked: user! + nice! + system! + irq! + softirq!, taken };
}

/** The share of the busy time that the host gave to others; undefined where it is not known. */
export function shareTaken(before: CoreTime | null, after: CoreTime | null): number | undefined {
  if (before === null || after === null) return undefined;
  const taken = after.taken - before.taken;
  const wanted = taken + after.worked - before.worked;
  return wanted > 0 ? taken / wanted : undefined;
}
