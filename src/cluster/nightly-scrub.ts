/** Decides when the leader scrubs etcd's files: in the night after an erasure. */
import type { Outcome } from '../errors.js';
import { every, type Timers } from '../group/ports/clock.js';
import type { SharedLog } from '../group/ports/shared-log.js';
import { DAY_MS, limits } from '../limits.js';

export interface NightlyScrubDeps {
  readonly log: Pick<SharedLog, 'scrubDue'>;
  readonly timers: Pick<Timers, 'later'>;
  readonly isLeader: () => boolean;
  readonly scrub: () => Promise<Outcome<{ readonly complete: boolean; readonly detail: string }>>;
  /** ms since 1970. */
  readonly now: () => number;
  readonly onFailure: (what: string, error: unknown) => void;
}

export class NightlyScrub {
  readonly #deps: NightlyScrubDeps;
  /** The last night that was checked, so that a failed scrub is retried in the next night. */
  #night: number;
  #stopTimer: () => void = () => undefined;

  constructor(deps: NightlyScrubDeps) {
    this.#deps = deps;
    this.#night = nightOf(deps.now());
  }

  start(): void {
    this.#stopTimer = every(this.#deps.timers, limits.scrubLookMs, () => void this.check());
  }

  stop(): void {
    this.#stopTimer();
  }

  /** Scrubs if a night has begun since the last check and an erasure waits for a scrub. */
  async check(): Promise<void> {
    const { log, isLeader, scrub, now, onFailure } = this.#deps;
    const night = nightOf(now());
    if (night === this.#night || !isLeader()) return;
    this.#night = night;
    try {
      if ((await log.scrubDue()) === null) return;
      const outcome = await scrub();
      if (!outcome.ok) throw new Error(outcome.text ?? outcome.code);
      if (!outcome.value.complete) throw new Error(outcome.value.detail);
    } catch (error) {
      onFailure('the nightly scrub of etcd', error);
    }
  }
}

/** Returns the number of the night: the day, since 1970, of the last hour of the scrub. */
function nightOf(at: number): number {
  return Math.floor((at - limits.scrubHourUtc * 3_600_000) / DAY_MS);
}
