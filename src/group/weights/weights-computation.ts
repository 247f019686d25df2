/** Has the pool compute peer weights when the schedule requires it, and publishes them by a command to the actor. */
import { limits } from '../../limits.js';
import type { Answers, Command } from '../actor-commands.js';
import type { Clock, Timers } from '../ports/clock.js';
import type { GroupObserver } from '../ports/observer.js';
import type { GroupPool, WeightsSignals, WeightsWithSignals } from '../ports/pool.js';
import type { LogWriter } from '../ports/storage.js';

export type PublishWeights = Extract<Command, { type: 'publish_weights' }>;

export interface WeightsDeps {
  readonly pool: GroupPool;
  readonly log: Pick<LogWriter, 'stored'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly observer: GroupObserver;
  readonly weightsIntervalMs: number;
  readonly onFailure: (what: string, error: unknown) => void;
}

export interface WeightsSite {
  readonly published: { readonly basedOnSeq: number; readonly computedAt: number | null };
  readonly durableSeq: () => number;
  readonly evidenceSeq: () => number;
  /** The newest durable event of a peer that has no weights yet. */
  readonly newVoiceSeq: () => number;
  /** True if nothing may begin or be published any more. */
  readonly ending: () => boolean;
  /** True if nothing may begin now, since it could not be published. */
  readonly readOnly: () => boolean;
  /** Resolves once its record is durable. Null if there is no room. */
  readonly publish: (command: PublishWeights, bytes: number) => Promise<Answers['publish_weights']> | null;
}

export class WeightsWork {
  readonly schedule: WeightsSchedule;
  #cancel: () => void = () => undefined;

  constructor(
    private readonly deps: WeightsDeps,
    private readonly site: WeightsSite,
  ) {
    const { basedOnSeq, computedAt } = site.published;
    this.schedule = new WeightsSchedule(deps.weightsIntervalMs, basedOnSeq, computedAt);
  }

  plan(): void {
    const { clock, timers } = this.deps;
    if (this.site.ending() || this.site.readOnly()) return;
    const now = clock.now();
    const at = this.schedule.startsAt(this.site.evidenceSeq(), now, this.site.newVoiceSeq());
    this.#cancel();
    if (at === null) return;
    if (at <= now) void this.#compute(now);
    else this.#cancel = timers.later(() => this.plan(), Math.min(at - now, limits.weightsRepublishMs));
  }

  stop(): void {
    this.#cancel();
  }

  /** Runs off the main thread; a failure affects no request and is repeated as the schedule allows. */
  async #compute(now: number): Promise<void> {
    const { pool, log, timers, observer, onFailure } = this.deps;
    const started = timers.elapsed();
    this.schedule.started(now);
    try {
      const upTo = this.site.durableSeq();
      await log.stored();
      // Loading has no time limit; the computation has one.
      await pool.follow(upTo);
      const following = timers.elapsed() - started;
      const computed = await pool.weights(this.site.durableSeq(), now);
      const computeMs = timers.elapsed() - started - following;
      if (this.site.ending()) return;
      if (this.site.readOnly()) return this.schedule.ended(timers.elapsed() - started);
      const durationMs = timers.elapsed() - started;
      const { signals: _signals, ...weights } = computed;
      const published = this.site.publish({ type: 'publish_weights', weights }, weights.tau.length * 59);
      if (published === null) throw new Error('the mailbox is full');
      // The status must not report weights as computed before they are published.
      const answer = await published;
      if (!answer.ok) throw new Error(answer.text ?? answer.code);
      observer.workDone('weights', true, durationMs);
      this.schedule.computed(computed, durationMs, computeMs);
    } catch (error) {
      this.schedule.ended(timers.elapsed() - started);
      if (this.site.ending()) return;
      observer.workDone('weights', false, timers.elapsed() - started);
      onFailure('computing peer weights', error);
    }
    this.plan();
  }
}

/** Decides when weights are computed, and remembers the last computation. Gets times as arguments. */
export class WeightsSchedule {
  #startedAt = Number.NEGATIVE_INFINITY;
  /** Duration of the last computation, in ms: as a whole, and without the time in which the pool caught up. */
  #durationMs = 0;
  #computeMs = 0;
  /** Start of the hour after which weights are computed again. */
  #hourFrom: number;
  #running = false;
  signals: WeightsSignals | null = null;

  /** `basedOnSeq` and `computedAt` are those of the last computation, whether published or not. */
  constructor(
    private readonly intervalMs: number,
    public basedOnSeq: number,
    public computedAt: number | null,
  ) {
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

  computed(computed: WeightsWithSignals, durationMs: number, computeMs = durationMs): void {
    this.#computeMs = computeMs;
    this.basedOnSeq = Math.max(this.basedOnSeq, computed.based_on_seq);
    this.computedAt = computed.computed_at;
    this.#hourFrom = computed.computed_at;
    this.signals = computed.signals;
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
