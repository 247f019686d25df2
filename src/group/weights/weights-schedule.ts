/** Decides when peer weights are computed, and remembers the last computation. Gets times as arguments. */
import { limits } from '../../limits.js';
import type { WeightsComputed, WeightsSignals } from '../ports/pool.js';

export class WeightsSchedule {
  #startedAt = Number.NEGATIVE_INFINITY;
  /** Duration of the last computation, in ms: as a whole, and without the time in which the pool caught up. */
  #durationMs = 0;
  #computeMs = 0;
  /** Start of the hour after which weights are computed again. */
  #hourFrom: number;
  #running = false;
  /** Whether published or not. */
  basedOnSeq: number;
  computedAt: number | null;
  signals: WeightsSignals | null = null;

  constructor(
    private readonly intervalMs: number,
    basedOnSeq: number,
    computedAt: number | null,
  ) {
    this.basedOnSeq = basedOnSeq;
    this.computedAt = computedAt;
    this.#hourFrom = computedAt ?? Number.NEGATIVE_INFINITY;
  }

  /**
   * Null if none is needed. Without new evidence, weights are computed again hourly, since decay changes them, and once
   * after a start, since no record holds the signals. Evidence of a peer without weights, up to `newVoiceSeq`, does not
   * wait for the interval, because it counts for nothing until then.
   */
  startsAt(evidenceSeq: number, now: number, newVoiceSeq = 0): number | null {
    if (this.#running || evidenceSeq === 0) return null;
    // A clock that was set back must not delay the next computation.
    if (now < this.#startedAt) this.#startedAt = Number.NEGATIVE_INFINITY;
    const pauseMs = Math.min((1 + limits.weightsRestFactor) * this.#durationMs, limits.weightsRepublishMs);
    const normalMs = Math.max(this.intervalMs, pauseMs);
    const quickMs = Math.max(limits.weightsQuickMs, limits.weightsQuickFactor * this.#computeMs);
    const allowed = this.#startedAt + (newVoiceSeq > this.basedOnSeq ? Math.min(normalMs, quickMs) : normalMs);
    if (evidenceSeq > this.basedOnSeq || this.signals === null) return allowed;
    if (this.#hourFrom > now) this.#hourFrom = now;
    return Math.max(allowed, this.#hourFrom + limits.weightsRepublishMs);
  }

  started(now: number): void {
    this.#running = true;
    this.#startedAt = now;
  }

  computed({ basedOnSeq, computedAt, signals }: WeightsComputed, durationMs: number, computeMs = durationMs): void {
    this.#computeMs = computeMs;
    this.basedOnSeq = Math.max(this.basedOnSeq, basedOnSeq);
    this.computedAt = computedAt;
    this.#hourFrom = computedAt;
    this.signals = signals;
    this.ended(durationMs);
  }

  published(basedOnSeq: number, computedAt: number | null): void {
    if (basedOnSeq <= this.basedOnSeq) return;
    this.basedOnSeq = basedOnSeq;
    this.computedAt = computedAt;
  }

  /** Called after a failure, too: the next start is then as far away as after a success. */
  ended(durationMs: number): void {
    this.#running = false;
    this.#durationMs = durationMs;
  }
}
