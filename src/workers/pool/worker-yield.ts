/**
 * Provides the yield of a long computation on a worker thread. On a single core the thread sleeps after each short
 * piece of work: the scheduler would give it whole ticks of milliseconds, even at the lowest priority.
 */
import { availableParallelism } from 'node:os';

/** Read once: it may cost a look into files. */
const coresHere = availableParallelism();
/** Minimum work between two sleeps. A request may wait that long. */
const WORK_MS = 0.1;
/** Requested sleep. Linux extends it to 0.1 ms, because a thread's timers have a slack of 0.05 ms. */
const SLEEP_MS = 0.05;

export interface YieldClock {
  now(): number;
  sleep(ms: number): void;
}

/** Never notified, so that a wait always times out. */
const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

const systemClock: YieldClock = {
  now: () => performance.now(),
  sleep: (ms) => void Atomics.wait(never, 0, 0, ms),
};

/** Does nothing if the main thread has another core. */
export function workerYield(cores: number = coresHere, clock: YieldClock = systemClock): () => void {
  if (cores > 1) return () => undefined;
  let awakeSince = clock.now();
  return () => {
    if (clock.now() - awakeSince < WORK_MS) return;
    clock.sleep(SLEEP_MS);
    awakeSince = clock.now();
  };
}
