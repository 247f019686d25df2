/** Starts the regular tasks of a running node: checks of disk, clock and store, retention, and the head file. */
import type { Logger } from 'pino';
import type { GroupLoop } from '../group/actor/loop.js';
import type { ClockGuard } from '../group/health/clock-guard.js';
import { DiskWatch, type DiskWatchDeps } from '../group/health/disk-watch.js';
import type { Clock } from '../group/ports/clock.js';
import { StoreEndedError } from '../group/ports/storage.js';
import { BackgroundCheck, type CheckDeps, type CheckTimes } from '../group/recovery/scheduled-check.js';
import { DAY_MS, limits } from '../limits.js';
import { writeClockSeen, writeExpectedHead } from '../store/files/folder-files.js';
import { repeatedly } from '../store/ownership/owner.js';

const MB = 1e6;
const CLOCK_SEEN_INTERVAL_MS = 60_000;

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
        log.error(fields, 'the disk is nearly full: writes are answered 503, reads continue');
      } else if (!low) {
        log.warn(fields, 'the disk has room again: writes are accepted');
      }
      isReportedLow = low;
      onChange(low);
    },
    onFailure: (error) => log.error({ err: error }, 'the free disk space cannot be read'),
  });
}

/** Logs when the clock went ahead and when it is right again, then calls `onChange`. */
export function clockReported(log: Logger, onChange: () => void): (ahead: boolean, aheadMs: number) => void {
  return (ahead, aheadMs) => {
    const fields = { ahead_ms: Math.round(aheadMs) };
    if (ahead) log.error(fields, 'the clock jumped more than a day ahead: writes are answered 503, reads continue');
    else log.warn(fields, 'the clock is correct again: writes are accepted');
    onChange();
  };
}

/** Checks the clock regularly, and stores in the folder until when it was right; the returned function stops that. */
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

export function backgroundCheck(
  deps: Pick<CheckDeps, 'pool' | 'timers' | 'clock'>,
  log: Logger,
  times: CheckTimes = limits,
): BackgroundCheck {
  return new BackgroundCheck(
    {
      ...deps,
      onReport({ ok, faults, lastSeq }) {
        if (ok) log.info({ last_seq: lastSeq }, 'log and snapshots were checked and are intact');
        for (const fault of faults)
          log.error({ fault }, 'the store is damaged: check the disk, and see "A damaged disk"');
      },
      onFailure: (error) => log.error({ err: error }, 'the check of log and snapshots failed and will be tried again'),
    },
    times,
  );
}

/** Retention cannot be undone: with a clock that is ahead by a day, the operator has until the next check to set it. */
export function retention(
  current: () => Pick<GroupLoop, 'state' | 'failed' | 'draining' | 'resume'>,
  clock: Clock,
  retentionDays: () => number,
  lookMs: number = limits.retentionLookMs,
): () => Promise<void> {
  let isDoubted = false;
  return repeatedly(async () => {
    const loop = current();
    const now = clock.now();
    const isFar = now - loop.state.lastAt > DAY_MS;
    const waits = isFar && !isDoubted;
    isDoubted = isFar;
    const days = retentionDays();
    if (days > 0 && !waits && !loop.failed && !loop.draining) loop.resume({ before: now - days * DAY_MS, now });
  }, lookMs);
}

/** Regularly stores, outside the log, the position that the log must at least reach. */
export function rememberHeads(
  current: () => Pick<GroupLoop, 'actor' | 'log'>,
  dir: string,
  log: Logger,
): () => Promise<void> {
  let remembered = 0;
  return repeatedly(async () => {
    const loop = current();
    const { durableSeq } = loop.actor;
    if (durableSeq === remembered) return;
    // If a write fails, the previous value stays valid as a lower bound.
    await writeHead(loop, dir, false).then(
      () => {
        remembered = durableSeq;
      },
      (error: unknown) => log.warn({ err: error }, 'head.json cannot be written'),
    );
  }, limits.heartbeatMs);
}

function unlessEnded(error: unknown): false {
  if (error instanceof StoreEndedError) return false;
  throw error;
}

export async function writeHead(loop: Pick<GroupLoop, 'actor' | 'log'>, dir: string, sync: boolean): Promise<void> {
  const { lastSeq, chain } = loop.actor.durableHead;
  // The head is written only after the files hold it, because the log in this folder must reach it.
  const isStored = await loop.log.stored().then(() => true, unlessEnded);
  // The head before stays valid as a lower bound.
  if (!isStored) return;
  await writeExpectedHead(dir, { lastSeq, chain: Buffer.from(chain).toString('hex') }, { sync });
}
