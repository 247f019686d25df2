/** Polls for a condition within a bound, and takes the time of work. */
import { setTimeout as delay } from 'node:timers/promises';

export interface Patience {
  readonly timeoutMs: number;
  /** Default 50. */
  readonly everyMs?: number;
}

/** Resolves to the first result of `look` that is not false, null or undefined. Rejects if there is none in time. */
export async function until<T>(
  look: () => T | Promise<T>,
  { timeoutMs, everyMs = 50 }: Patience,
  failure: string | (() => string | Promise<string>),
): Promise<Exclude<T, false | null | undefined>> {
  const giveUpMs = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== false && found !== null && found !== undefined) return found as Exclude<T, false | null | undefined>;
    if (performance.now() > giveUpMs) throw new Error(typeof failure === 'string' ? failure : await failure());
    await delay(everyMs);
  }
}

/** Resolves to the result of the work, and its duration in seconds, including what it does at once. */
export async function timed<T>(work: () => Promise<T>): Promise<[result: T, seconds: number]> {
  const startedMs = performance.now();
  return [await work(), (performance.now() - startedMs) / 1000];
}

export async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  return (await timed(work))[1];
}
