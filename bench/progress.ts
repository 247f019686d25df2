/** Writes progress to standard error: a bar on a terminal, else a line every few seconds. Runs work in parallel. */
import { writeSync } from 'node:fs';
import { SingleBar } from 'cli-progress';

const lineEveryMs = 3_000;

export interface Progress {
  advance(by: number): void;
  stop(): void;
}

export function startProgress(what: string, total: number): Progress {
  if (process.stderr.isTTY) {
    const bar = new SingleBar({ format: `${what} {bar} {value}/{total}, {eta} s left`, clearOnComplete: true });
    bar.start(total, 0);
    return { advance: (by) => bar.increment(by), stop: () => bar.stop() };
  }
  let done = 0;
  let lastLineMs = performance.now();
  return {
    advance(by) {
      done += by;
      const nowMs = performance.now();
      if (nowMs - lastLineMs < lineEveryMs) return;
      lastLineMs = nowMs;
      writeLine(`${what} ${done}/${total}\n`);
    },
    stop() {},
  };
}

/**
 * Writes without a stream. Sockets of the load use the same code of Node, which V8 would deoptimise and recompile for
 * another kind of stream.
 */
function writeLine(line: string): void {
  try {
    writeSync(process.stderr.fd, line);
  } catch {
    // The pipe is full or closed.
  }
}

/** Reports the progress of work in another process. */
export type OnProgress = (done: number, total: number) => void;

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
