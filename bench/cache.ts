/**
 * How long a read takes that misses a core's own caches and should find what it wants in the one that all cores share. On a rented machine
 * neighbours can take that one for themselves: then everything slows, and the more the more code and data it touches.
 */
import { mix } from './load/requests.js';

const words = (8 * 1024 * 1024) / Uint32Array.BYTES_PER_ELEMENT;
/** A line of the cache. */
const wordsPerLine = 16;
const lines = words / wordsPerLine;
const rounds = 2;

/** Of one read among 8 MiB, each at a place that only the read before it tells. Takes some 50 ms. */
export function sharedCacheReadNs(): number {
  const places = oneCycle();
  walk(places, 1);
  const startedMs = performance.now();
  walk(places, rounds);
  return Math.round(((performance.now() - startedMs) * 1e6) / (rounds * lines));
}

/** At the first word of each line, where to read next: every line comes once before the first comes again (Sattolo's shuffle). */
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
