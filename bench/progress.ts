/** Progress on standard error: a bar on a terminal, else a line every few seconds. */
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
 * Not through a stream: the load goes through sockets by the same code of Node, which V8 would throw away and compile
 * anew at the sight of another kind.
 */
function writeLine(line: string): void {
  try {
    writeSync(process.stderr.fd, line);
  } catch {
    // A pipe that is full, or that nobody reads any more.
  }
}

/** Lets work in another process report its progress. */
export type OnProgress = (done: number, total: number) => void;
