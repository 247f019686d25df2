/** Verifies the whole store repeatedly, so that damage to unread data is found while a backup still exists. */
import { limits } from '../../limits.js';
import type { CheckStatus, VerifyReport } from '../api.js';
import type { Clock, Timers } from '../ports/clock.js';
import type { GroupPool } from '../ports/pool.js';

/** In ms: the first check after a start, and each further one after the start of the one before. */
export interface CheckTimes {
  readonly checkFirstMs: number;
  readonly checkEveryMs: number;
}

export interface CheckDeps {
  readonly pool: Pick<GroupPool, 'check'>;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly onReport: (report: VerifyReport) => void;
  /** The next check is scheduled as after a completed one. */
  readonly onFailure: (error: unknown) => void;
}

export class BackgroundCheck {
  readonly #ending = new AbortController();
  #cancel: () => void = () => undefined;
  #running: Promise<void> | null = null;
  status: CheckStatus = { running: false, checkedSeq: 0, endedAt: null, faults: [] };

  constructor(
    private readonly deps: CheckDeps,
    private readonly times: CheckTimes = limits,
  ) {}

  /** The first check is delayed, because a start is busy and has verified what it read. */
  start(): void {
    this.#plan(this.times.checkFirstMs);
  }

  async stop(): Promise<void> {
    this.#cancel();
    this.#ending.abort();
    await this.#running;
  }

  #plan(ms: number): void {
    this.#cancel = this.deps.timers.later(() => {
      this.#running = this.#check();
    }, ms);
  }

  async #check(): Promise<void> {
    const { pool, timers, clock, onReport, onFailure } = this.deps;
    const started = timers.elapsed();
    this.status = { ...this.status, running: true, checkedSeq: 0 };
    try {
      const onProgress = (checkedSeq: number) => {
        this.status = { ...this.status, checkedSeq };
      };
      const report = await pool.check(onProgress, this.#ending.signal);
      this.status = { running: false, checkedSeq: report.lastSeq, endedAt: clock.now(), faults: report.faults };
      onReport(report);
    } catch (error) {
      this.status = { ...this.status, running: false };
      if (this.#ending.signal.aborted) return;
      onFailure(error);
    }
    if (!this.#ending.signal.aborted) this.#plan(Math.max(0, this.times.checkEveryMs - (timers.elapsed() - started)));
  }
}
