/** Watches the node for the dashboard: samples of its pace and of weights, counted verdicts, changes of verdicts. */
import { granted, type Outcome } from '../../errors.js';
import { limits } from '../../limits.js';
import type { Ask } from '../../operations/table.js';
import type { DashboardDeps } from './context.js';
import { PaceHistory, VerdictHistory, WeightHistory } from './history.js';
import type { OverviewValue, VerdictsValue } from './wire.js';

export class DashboardUpdates {
  readonly #startedMs = performance.now();
  readonly pace = new PaceHistory();
  readonly weights = new WeightHistory();
  readonly changes = new VerdictHistory();
  #verdicts: VerdictsValue | null = null;
  /** Time by `performance.now()` before which verdicts are not counted again. */
  #verdictsPauseUntil = Number.NEGATIVE_INFINITY;
  #counting = false;
  #timer: NodeJS.Timeout | undefined;
  #endChanges: (() => void) | undefined;

  constructor(
    private readonly deps: DashboardDeps,
    private readonly ask: Ask,
  ) {}

  start(): void {
    this.#timer = setInterval(() => this.#sample(), limits.dashboardBeatMs).unref();
    this.#endChanges = this.deps.group.verdicts.listen(this.changes);
    this.#sample();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#endChanges?.();
  }

  #sample(): void {
    const { group, traffic, clock } = this.deps;
    const at = clock.now();
    this.pace.add({ at, accepted: group.counts().events, traffic: traffic() });
    if (this.weights.isDue(at)) this.weights.add(at, group.peers(0, limits.metricsPeersMax));
  }

  async overview(): Promise<Outcome<OverviewValue>> {
    const { clock, traffic } = this.deps;
    const status = await this.ask('status', {});
    if (!status.ok) return status;
    void this.#countVerdicts();
    return granted({
      at: new Date(clock.now()).toISOString(),
      uptime_s: Math.floor((performance.now() - this.#startedMs) / 1000),
      status: status.value,
      ...this.pace.now,
      ids_refused: traffic().idsRefused,
      verdicts: this.#verdicts,
    });
  }

  /** Counts in the worker pool; the pause after a count is many times as long as the count. */
  async #countVerdicts(): Promise<void> {
    const started = performance.now();
    if (this.#counting || started < this.#verdictsPauseUntil) return;
    this.#counting = true;
    try {
      const counted = await this.deps.group.verdictCounts();
      if (!counted.ok) return;
      const { counts, sampled, players } = counted.value;
      this.#verdicts = { ...counts, sampled, players };
    } catch (error) {
      this.deps.log.debug({ err: error }, 'verdicts could not be counted');
    } finally {
      const ended = performance.now();
      const pauseMs = Math.max(limits.verdictsRestMs, limits.verdictsRestFactor * (ended - started));
      this.#verdictsPauseUntil = ended + pauseMs;
      this.#counting = false;
    }
  }
}
