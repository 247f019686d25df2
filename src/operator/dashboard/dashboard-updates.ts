/** Watches the node for the dashboard: samples, counted verdicts, updates of open pages, by one timer for all. */
import { limits } from '../../limits.js';
import type { Ask } from '../../operations/table.js';
import type { DashboardDeps } from './context.js';
import { PaceHistory, VerdictHistory, WeightHistory } from './history.js';
import type { LivePages } from './live.js';
import type { OverviewValue, VerdictsValue } from './wire.js';

export class DashboardUpdates {
  readonly #deps: DashboardDeps;
  readonly #ask: Ask;
  readonly #pages: LivePages;
  readonly #startedMs = performance.now();
  readonly pace = new PaceHistory();
  readonly weights = new WeightHistory();
  readonly changes = new VerdictHistory();
  #verdicts: VerdictsValue | null = null;
  /** Time by `performance.now()` before which verdicts are not counted again. */
  #verdictsPauseUntil = Number.NEGATIVE_INFINITY;
  #counting = false;
  #beating = false;
  #timer: NodeJS.Timeout | undefined;
  #endChanges: (() => void) | undefined;

  constructor(deps: DashboardDeps, ask: Ask, pages: LivePages) {
    this.#deps = deps;
    this.#ask = ask;
    this.#pages = pages;
  }

  start(): void {
    const update = () => {
      this.update().catch((error: unknown) =>
        this.#deps.log.error({ err: error }, 'the dashboard could not be refreshed'),
      );
    };
    this.#timer = setInterval(update, limits.dashboardBeatMs);
    this.#timer.unref();
    this.#endChanges = this.#deps.group.verdicts.listen(this.changes);
    update();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#endChanges?.();
  }

  /** Takes a sample and updates every open page. */
  async update(): Promise<void> {
    if (this.#beating) return;
    this.#beating = true;
    try {
      const { group, traffic, clock } = this.#deps;
      const at = clock.now();
      this.pace.add({ at, accepted: group.counts().events, traffic: traffic() });
      const { computedAt } = group.health().weights;
      if (this.weights.isDue(at, computedAt)) this.weights.add(at, computedAt, group.peers(0, limits.metricsPeersMax));
      if (this.#pages.open === 0) return;
      void this.#countVerdicts();
      this.#pages.send('overview', await this.overview());
    } finally {
      this.#beating = false;
    }
  }

  async overview(): Promise<OverviewValue> {
    const { clock, traffic } = this.#deps;
    const status = await this.#ask('status', {});
    if (!status.ok) throw new Error(`the status was refused: ${status.code}`);
    const { eventsPerS, readsPerS, eventMs, readMs } = this.pace.now;
    return {
      at: new Date(clock.now()).toISOString(),
      uptime_s: Math.floor((performance.now() - this.#startedMs) / 1000),
      status: status.value,
      events_per_s: eventsPerS,
      reads_per_s: readsPerS,
      event_ms_p99: eventMs,
      read_ms_p99: readMs,
      ids_refused: traffic().idsRefused,
      verdicts: this.#verdicts,
    };
  }

  /** Counts in the worker pool; the pause after a count is many times as long as the count. */
  async #countVerdicts(): Promise<void> {
    const started = performance.now();
    if (this.#counting || started < this.#verdictsPauseUntil) return;
    this.#counting = true;
    try {
      const counted = await this.#deps.group.verdictCounts();
      if (!counted.ok) return;
      const { counts, sampled, players } = counted.value;
      this.#verdicts = { ...counts, sampled, players };
    } catch (error) {
      this.#deps.log.debug({ err: error }, 'verdicts could not be counted');
    } finally {
      const ended = performance.now();
      const pauseMs = Math.max(limits.verdictsRestMs, limits.verdictsRestFactor * (ended - started));
      this.#verdictsPauseUntil = ended + pauseMs;
      this.#counting = false;
    }
  }
}
