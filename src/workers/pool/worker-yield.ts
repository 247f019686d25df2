/**
 * The yield of a long computation on a worker thread. Where the process has a single core, the thread sleeps after each
 * short piece of work, so that the main thread answers meanwhile: the scheduler gives a thread that never sleeps whole
 * ticks of milliseconds, even at the lowest priority.
 */
import { availableParallelism } from 'node:os';

/** Work between two sleeps at least. A request may wait that long. */
const WORK_MS = 0.1;
/** Asked for; Linux makes 0.1 ms of it, since a thread's timers have a slack of 0.05 ms. */
const SLEEP_MS = 0.05;

export interface YieldClock {
  /** Monotonic, in ms. */
  now(): number;
  /** Blocks the thread for about so many ms. */
  sleep(ms: number): void;
}

/** Nothing wakes a thread that waits on this field. */
const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

const systemClock: YieldClock = {
  now: () => performance.now(),
  sleep: (ms) => void Atomics.wait(never, 0, 0, ms),
};

/** The function that a computation calls again and again. It does nothing where another core serves the main thread. */
export function workerYield(cores: number = availableParallelism(), clock: YieldClock = systemClock): () => void {
  if (cores > 1) return () => undefined;
  let awakeSince = clock.now();
  return () => {
    if (clock.now() - awakeSince < WORK_MS) return;
    clock.sleep(SLEEP_MS);
    awakeSince = clock.now();
  };
}
