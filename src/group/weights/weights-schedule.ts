/**
 * When peer weights are computed, and what was computed last. Pure: times come in, a moment to start comes out; the
 * loop owns the timer and the pool.
 */
import { limits } from '../../limits.js';
import type { WeightsComputed, WeightsSignals } from '../ports/pool.js';

/** Times in ms since 1970. */
export class WeightsSchedule {
  readonly #intervalMs: number;
  #startedAt = Number.NEGATIVE_INFINITY;
  /** How long the last one took, in ms. */
  #durationMs = 0;
  /** From when the hour runs after which they are computed again. */
  #hourFrom: number;
  #running = false;
  /** The newest record that the last computation saw; published or not. */
  basedOnSeq: number;
  computedAt: number | null;
  signals: WeightsSignals | null = null;

  constructor(intervalMs: number, basedOnSeq: number, computedAt: number | null) {
    this.#intervalMs = intervalMs;
    this.basedOnSeq = basedOnSeq;
    this.computedAt = computedAt;
    this.#hourFrom = computedAt ?? Number.NEGATIVE_INFINITY;
  }

  /**
   * When the next computation may start; null where nothing calls for one. `evidenceSeq` is the newest record that
   * weights depend on. Without a new one they are computed again hourly, since decay moves them, and once after a
   * start, since signals are in no record.
   */
  startsAt(evidenceSeq: number, now: number): number | null {
    if (this.#running || evidenceSeq === 0) return null;
    // A clock that was set back must not put the next computation off.
    if (now < this.#startedAt) this.#startedAt = Number.NEGATIVE_INFINITY;
    const pauseMs = Math.min((1 + limits.weightsRestFactor) * this.#durationMs, limits.weightsRepublishMs);
    const allowed = this.#startedAt + Math.max(this.#intervalMs, pauseMs);
    if (evidenceSeq > this.basedOnSeq || this.signals === null) return allowed;
    if (this.#hourFrom > now) this.#hourFrom = now;
    return Math.max(allowed, this.#hourFrom + limits.weightsRepublishMs);
  }

  started(now: number): void {
    this.#running = true;
    this.#startedAt = now;
  }

  computed({ basedOnSeq, computedAt, signals }: WeightsComputed, durationMs: number): void {
    this.basedOnSeq = Math.max(this.basedOnSeq, basedOnSeq);
    this.computedAt = computedAt;
    this.#hourFrom = computedAt;
    this.signals = signals;
    this.ended(durationMs);
  }

  /** Another node computed and published them. */
  published(basedOnSeq: number, computedAt: number | null): void {
    if (basedOnSeq <= this.basedOnSeq) return;
    this.basedOnSeq = basedOnSeq;
    this.computedAt = computedAt;
  }

  /** Also after a failure: the next start is as far away as after a success. */
  ended(durationMs: number): void {
    this.#running = false;
    this.#durationMs = durationMs;
  }
}
