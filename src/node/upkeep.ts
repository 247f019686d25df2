/**
 * What a running node looks after beside its requests: room on the disk, the log at rest, and the head that is kept
 * outside it.
 */
import type { Logger } from 'pino';
import type { GroupLoop } from '../group/actor/loop.js';
import type { ClockGuard } from '../group/health/clock-guard.js';
import { DiskWatch, type DiskWatchDeps } from '../group/health/disk-watch.js';
import type { Clock } from '../group/ports/clock.js';
import { BackgroundCheck, type CheckDeps, type CheckTimes } from '../group/recovery/scheduled-check.js';
import { DAY_MS, limits } from '../limits.js';
import { writeClockSeen } from '../store/files/clock-seen.js';
import { writeExpectedHead } from '../store/log/expected-head.js';
import { repeatedly } from '../store/ownership/repeatedly.js';

const MB = 1e6;
/** How often the time is kept of a clock that is right. */
const CLOCK_SEEN_INTERVAL_MS = 60_000;

/** The watermark of free space, told in the log wherever the disk becomes low or is no longer. */
export function diskWatch(
  deps: Pick<DiskWatchDeps, 'gauge' | 'timers'>,
  minMb: number,
  log: Logger,
  onChange: (low: boolean) => void,
): DiskWatch {
  let isReportedLow = false;
  return new DiskWatch({
    ...deps,
    minBytes: minMb * MB,
    onChange(low, { freeBytes }) {
      const fields = { free_bytes: freeBytes, disk_free_min_mb: minMb };
      if (low && !isReportedLow) {
        log.error(fields, 'the disk is nearly full: writes are answered 503, reads go on');
      } else if (!low) {
        log.warn(fields, 'the disk has room again: writes are taken');
      }
      isReportedLow = low;
      onChange(low);
    },
    onFailure: (error) => log.error({ err: error }, 'the free disk space cannot be read'),
  });
}

/** Tells the log when the clock went ahead and when it is right again, then calls `onChange`. */
export function clockReported(log: Logger, onChange: () => void): (ahead: boolean, aheadMs: number) => void {
  return (ahead, aheadMs) => {
    const fields = { ahead_ms: Math.round(aheadMs) };
    if (ahead) log.error(fields, 'the clock jumped more than a day ahead: writes are answered 503, reads go on');
    else log.warn(fields, 'the clock is right again: writes are taken');
    onChange();
  };
}

/** Looks at the clock again and again, and keeps in the folder until when it was right; the result stops that. */
export function clockWatch(guard: ClockGuard, clock: Clock, dir: string, log: Logger): () => Promise<void> {
  let savedAt = Number.NEGATIVE_INFINITY;
  return repeatedly(async () => {
    const now = clock.now();
    if (guard.isAheadNow() || Math.abs(now - savedAt) < CLOCK_SEEN_INTERVAL_MS) return;
    savedAt = now;
    await writeClockSeen(dir, guard.newestAt).catch((error: unknown) =>
      log.warn({ err: error }, 'clock-seen cannot be written'),
    );
  }, limits.diskLookMs);
}

/** The check of log and snapshots; what it finds is told in the log, each time anew. */
export function backgroundCheck(
  deps: Pick<CheckDeps, 'pool' | 'timers' | 'clock'>,
  log: Logger,
  times: CheckTimes = limits,
): BackgroundCheck {
  return new BackgroundCheck(
    {
      ...deps,
      onReport({ ok, faults, lastSeq }) {
        if (ok) log.info({ last_seq: lastSeq }, 'log and snapshots were checked and hold');
        for (const fault of faults)
          log.error({ fault }, 'the store is damaged: look at the disk, and see "When damage is found"');
      },
      onFailure: (error) => log.error({ err: error }, 'the check of log and snapshots failed and will be tried again'),
    },
    times,
  );
}

/**
 * Lets events leave the log that are older than `days`, from now on; 0 keeps all. The result stops that. What left does
 * not come back: a clock that is a day and more ahead of the newest record has until the next look to be set right.
 */
export function retention(
  current: () => Pick<GroupLoop, 'state' | 'failed' | 'draining' | 'resume'>,
  clock: Clock,
  days: number,
  lookMs: number = limits.retentionLookMs,
): () => Promise<void> {
  if (days === 0) return async () => undefined;
  let isDoubted = false;
  const look = () => {
    const loop = current();
    const now = clock.now();
    const isFar = now - loop.state.lastAt > DAY_MS;
    const waits = isFar && !isDoubted;
    isDoubted = isFar;
    if (!waits && !loop.failed && !loop.draining) loop.resume({ before: now - days * DAY_MS, now });
  };
  look();
  const timer = setInterval(look, lookMs);
  timer.unref();
  return async () => clearInterval(timer);
}

/** Keeps outside the log how far it must reach; the result stops that. */
export function rememberHeads(current: () => Pick<GroupLoop, 'actor'>, dir: string, log: Logger): () => Promise<void> {
  let remembered = 0;
  return repeatedly(async () => {
    const loop = current();
    const { durableSeq } = loop.actor;
    if (durableSeq === remembered) return;
    // One that is missed leaves the one before, a lower bound as well.
    await writeHead(loop, dir, false).catch((error: unknown) =>
      log.warn({ err: error }, 'head.json cannot be written'),
    );
    remembered = durableSeq;
  }, limits.heartbeatMs);
}

export async function writeHead({ actor }: Pick<GroupLoop, 'actor'>, dir: string, sync: boolean): Promise<void> {
  const { lastSeq, chain } = actor.durableHead;
  await writeExpectedHead(dir, { lastSeq, chain: Buffer.from(chain).toString('hex') }, { sync });
}
