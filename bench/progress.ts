/** Progress on standard error: a bar on a terminal, else a line every few seconds. */
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
      console.error(`${what} ${done}/${total}`);
    },
    stop() {},
  };
}
