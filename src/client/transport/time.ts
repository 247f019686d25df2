/** Declares the client's source of time and randomness, which tests replace, with ages, pauses and jitter. */
import { randomUUID } from 'node:crypto';
import { bounds } from '../bounds.js';
import { abortable, linked } from './listeners.js';

/** The source of time and random values. Omit it outside of tests. @public */
export interface Runtime {
  /** The wall clock, in ms since 1970. */
  now(): number;
  /** A monotonic clock, in ms since an arbitrary time. */
  elapsedMs(): number;
  /** A random number from 0 to below 1. */
  random(): number;
  /** A new UUIDv4. */
  uuid(): string;
  /**
   * Calls `run` once after `ms`; the returned function cancels the timer. A timer in the background does not keep the
   * process alive.
   */
  after(ms: number, run: () => void, isBackground?: boolean): () => void;
}

export const systemRuntime: Runtime = {
  now: () => Date.now(),
  elapsedMs: () => performance.now(),
  random: () => Math.random(),
  uuid: () => randomUUID(),
  after(ms, run, isBackground = false) {
    const timer = setTimeout(run, Math.min(ms, bounds.timerMsMax));
    if (isBackground) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** True if a timer can represent the duration. A string is refused: adding it would give a string. */
export function isTime(ms: number): boolean {
  return Number.isFinite(ms) && ms <= bounds.timerMsMax;
}

/**
 * The clock for ages, in ms: follows whichever clock shows that more time has passed, because the wall clock may be set
 * and the monotonic one stops while a machine sleeps. It never goes back.
 */
export class AgeClock {
  #wallAheadMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly runtime: Runtime) {}

  ms(): number {
    const elapsedMs = this.runtime.elapsedMs();
    this.#wallAheadMs = Math.max(this.#wallAheadMs, this.runtime.now() - elapsedMs);
    return elapsedMs + this.#wallAheadMs;
  }

  /** Converts a time of this clock to ms since 1970 by the present wall clock. */
  wallAt(ms: number): number {
    return this.runtime.now() - Math.round(this.ms() - ms);
  }
}

/** Resolves after `ms`; rejects with the signal's reason if the signal is aborted before. */
export async function pause(runtime: Runtime, ms: number, signal?: AbortSignal, isBackground = false): Promise<void> {
  signal?.throwIfAborted();
  let cancel = () => {};
  const over = new Promise<void>((resolve) => {
    cancel = runtime.after(ms, resolve, isBackground);
  });
  await abortable(over, signal).finally(cancel);
}

/** Runs work whose signal is aborted by `signal`, or after `ms` with `reason`; if it then fails, the reason rejects. */
export async function within<T>(
  runtime: Runtime,
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
  reason?: unknown,
): Promise<T> {
  const { controller, release } = linked(signal);
  const cancel = runtime.after(Math.max(0, ms), () => controller.abort(reason));
  try {
    return await work(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    cancel();
    release();
  }
}

/** Full jitter: a random pause from 0 to a window that doubles with each attempt (0 is the first), up to a cap. */
export function fullJitterMs(runtime: Runtime, attempt: number, baseMs: number, capMs: number): number {
  return runtime.random() * Math.min(capMs, baseMs * 2 ** Math.min(attempt, 30));
}
