/** Bounded concurrency with progress on standard error. */
import { startProgress } from './progress.js';

/**
 * Runs `work` over the items, at most `inFlight` at a time. Returns the results in the order of the items. The first
 * failure stops the rest.
 */
export async function inParallel<T, R>(
  what: string,
  items: readonly T[],
  inFlight: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  const progress = startProgress(what, items.length);
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    while (next < items.length && !failed) {
      const index = next++;
      results[index] = await work(items[index]!);
      progress.advance(1);
    }
  };
  try {
    await Promise.all(Array.from({ length: inFlight }, worker));
  } catch (error) {
    failed = true;
    throw error;
  } finally {
    progress.stop();
  }
  return results;
}
