/**
 * Has the leader scrub etcd's files in the night after an erasure. It decides when; what a scrub is, the operations of
 * the cluster say.
 */
import type { SharedLog } from '../group/ports/shared-log.js';
import { DAY_MS, limits } from '../limits.js';

export interface NightlyScrubDeps {
  readonly log: Pick<SharedLog, 'scrubDue'>;
  readonly isLeader: () => boolean;
  readonly scrub: () => Promise<unknown>;
  /** ms since 1970. */
  readonly now: () => number;
  readonly onFailure: (what: string, error: unknown) => void;
}

export class NightlyScrub {
  readonly #deps: NightlyScrubDeps;
  /** The night that was looked at last, so that a failure waits for the next one. */
  #night: number;
  #timer: NodeJS.Timeout | null = null;

  constructor(deps: NightlyScrubDeps) {
    this.#deps = deps;
    this.#night = nightOf(deps.now());
  }

  start(): void {
    this.#timer = setInterval(() => void this.look(), limits.scrubLookMs);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Scrubs where a night has begun since the last look and something that was erased waits for it. */
  async look(): Promise<void> {
    const { log, isLeader, scrub, now, onFailure } = this.#deps;
    const night = nightOf(now());
    if (night === this.#night || !isLeader()) return;
    this.#night = night;
    try {
      if ((await log.scrubDue()) !== null) await scrub();
    } catch (error) {
      onFailure('the nightly scrub of etcd', error);
    }
  }
}

/** Counts nights: the number of the day on which the hour of the scrub came last. */
function nightOf(at: number): number {
  return Math.floor((at - limits.scrubHourUtc * 3_600_000) / DAY_MS);
}
