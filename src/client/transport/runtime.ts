/** Time and chance as the client sees them: one port, so that a test owns the clock, the timers and the dice. */
import { randomUUID } from 'node:crypto';
import { bounds } from '../bounds.js';

/**
 * Where time and chance come from. Leave it out outside of tests.
 * @public
 */
export interface Runtime {
  /** The wall clock, in ms since 1970. */
  now(): number;
  /** A clock that never jumps, in ms since any moment. */
  elapsedMs(): number;
  /** From 0 to below 1. */
  random(): number;
  /** A new UUIDv4. */
  uuid(): string;
  /** Runs `run` once, `ms` from now; what comes back calls that off. */
  after(ms: number, run: () => void): () => void;
}

export const systemRuntime: Runtime = {
  now: () => Date.now(),
  elapsedMs: () => performance.now(),
  random: () => Math.random(),
  uuid: () => randomUUID(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, bounds.timerMsMax));
    return () => clearTimeout(timer);
  },
};

/** Whether a timer can hold it. Text is none: added to a time it would make another text. */
export function isTime(ms: number): boolean {
  return Number.isFinite(ms) && ms <= bounds.timerMsMax;
}

/**
 * What ages are measured by: ms by whichever clock says that more time has passed, since the wall clock may be set and
 * the other one stands still while a machine sleeps. Never goes back.
 */
export class AgeClock {
  readonly #runtime: Runtime;
  #wallAheadMs = Number.NEGATIVE_INFINITY;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  ms(): number {
    const elapsedMs = this.#runtime.elapsedMs();
    this.#wallAheadMs = Math.max(this.#wallAheadMs, this.#runtime.now() - elapsedMs);
    return elapsedMs + this.#wallAheadMs;
  }

  /** A moment of this clock as the wall clock tells it now, in ms since 1970. */
  wallAt(ms: number): number {
    return this.#runtime.now() - Math.round(this.ms() - ms);
  }
}

/** Resolves after `ms`; rejects with the signal's reason where it is aborted before. */
export function pause(runtime: Runtime, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const release = onAbort(signal, () => {
      cancel();
      reject(signal.reason);
    });
    const cancel = runtime.after(ms, () => {
      release();
      resolve();
    });
  });
}

/** Full jitter: anything from 0 to a window that doubles with each attempt (0 is the first), up to a cap. */
export function fullJitterMs(runtime: Runtime, attempt: number, baseMs: number, capMs: number): number {
  return runtime.random() * Math.min(capMs, baseMs * 2 ** Math.min(attempt, 30));
}

/**
 * Tells a listener of the game's, after what runs now: what it throws is an uncaught exception of its own, and breaks
 * nothing here.
 */
export function notify<T>(listener: ((value: T) => void) | undefined, value: T): void {
  if (listener !== undefined) queueMicrotask(() => listener(value));
}

/** Who waits for a signal, and the one listener that serves them all. */
interface Waiting {
  readonly runs: Set<() => void>;
  readonly listener: () => void;
}

const waitingFor = new WeakMap<AbortSignal, Waiting>();

/**
 * Runs `run` once the signal is aborted, unless what comes back is called before. However many wait, the signal has one
 * listener: of more than ten the platform prints that they are a leak. It goes with the last of them, since it keeps a
 * signal in memory until that is aborted.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  const { runs, listener } = waitingFor.get(signal) ?? listenTo(signal);
  runs.add(run);
  return () => {
    runs.delete(run);
    if (runs.size > 0) return;
    waitingFor.delete(signal);
    signal.removeEventListener('abort', listener);
  };
}

function listenTo(signal: AbortSignal): Waiting {
  const runs = new Set<() => void>();
  const listener = () => {
    for (const run of runs) run();
  };
  waitingFor.set(signal, { runs, listener });
  signal.addEventListener('abort', listener, { once: true });
  return { runs, listener };
}

/** A controller that follows `signal` too, until `release` is called. */
export function linked(signal: AbortSignal | undefined): { controller: AbortController; release: () => void } {
  const controller = new AbortController();
  if (signal === undefined) return { controller, release: () => undefined };
  const follow = () => controller.abort(signal.reason);
  if (!signal.aborted) return { controller, release: onAbort(signal, follow) };
  follow();
  return { controller, release: () => undefined };
}
