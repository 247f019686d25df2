/**
 * Loaded into a server that is measured (`node --import`): tells the delay of its event loop over file descriptor 3,
 * a line of JSON every 100 ms, and ends the server where the bench was killed. It tells nothing in threads and child
 * processes of the server, which inherit the option.
 */
import { writeSync } from 'node:fs';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import { type LoopSample, loopSampleMs } from './target.js';

/** The monitor's own timer, which its figures hold. */
const resolutionMs = 1;
const channel = 3;
const goneLookMs = 500;
/** The process that started the server. */
const bench = Number(process.env.BENCH_PROBE_PARENT);

if (isMainThread) {
  if (process.ppid === bench) watch();
  // A child of the server, or a server whose bench was killed a moment ago, and may not be known to be gone yet.
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
      // Nobody listens any more: the bench was killed.
      end();
    }
  }, loopSampleMs).unref();
}

/** Signal 0 only asks. */
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
