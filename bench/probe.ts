/**
 * Loaded into a measured server (`node --import`). Writes the delay of its event loop to file descriptor 3, one line of
 * JSON every 100 ms, and ends the server if the bench was killed. Does nothing in threads and child processes of the
 * server, which inherit the option.
 */
import { writeSync } from 'node:fs';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import { type LoopSample, loopSampleMs } from './target.js';

/** Period of the monitor's own timer, which its figures include. */
const resolutionMs = 1;
const channel = 3;
const goneLookMs = 500;
/** Id of the process that started the server. */
const bench = Number(process.env.BENCH_PROBE_PARENT);

if (isMainThread) {
  if (process.ppid === bench) watch();
  // A child of the server, or a server whose bench was killed just now and is not yet detected as gone.
  else setInterval(() => runs(bench) || end(), goneLookMs).unref();
}

function watch(): void {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  const lateMs = (ns: number) => Math.max(0, Math.round((ns / 1e6 - resolutionMs) * 1000) / 1000);
  setInterval(() => {
    const sample: LoopSample = {
      at: Math.round(performance.timeOrigin + performance.now()),
      p99: lateMs(delays.percentile(99)),
      max: lateMs(delays.max),
    };
    delays.reset();
    try {
      writeSync(channel, `${JSON.stringify(sample)}\n`);
    } catch {
      // The pipe is closed: the bench was killed.
      end();
    }
  }, loopSampleMs).unref();
}

/** Signal 0 only tests whether the process exists. */
function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function end(): void {
  process.kill(process.pid, 'SIGKILL');
}
