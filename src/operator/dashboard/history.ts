/** Rates, latencies and peer weights of the last hours for the dashboard's plots, in bounded lists. */
import type { PeerView } from '../../group/api.js';
import type { LatencyCounts, Traffic } from '../../group/ports/observer.js';
import type { ChangeRow, FeedListener, FeedPosition } from '../../group/verdict-changes.js';
import { limits } from '../../limits.js';
import { isoTime } from '../../operations/operation.js';
import type { HistoryValue, PaceValue, VerdictChangeValue, WeightHistoryValue } from './wire.js';

export interface Sample {
  /** ms since 1970. */
  readonly at: number;
  readonly accepted: number;
  readonly traffic: Traffic;
}

const still: PaceValue = { events_per_s: 0, reads_per_s: 0, event_ms_p99: null, read_ms_p99: null };

function addTo<T>(list: T[], thing: T, max: number): void {
  list.push(thing);
  if (list.length > max) list.shift();
}

export class PaceHistory {
  readonly #paces: (PaceValue & { readonly at: number })[] = [];
  /** Samples of the window over which the newest pace is computed. */
  readonly #window: Sample[] = [];
  now = still;

  add(sample: Sample): void {
    const before = this.#window[0];
    addTo(this.#window, sample, limits.paceWindowSamples);
    if (before === undefined || sample.at <= before.at) return;
    this.now = paceBetween(before, sample);
    addTo(this.#paces, { ...this.now, at: sample.at / 1000 }, limits.paceSamplesMax);
  }

  value(): HistoryValue {
    const column = <N extends keyof HistoryValue>(name: N) => this.#paces.map((pace) => pace[name]);
    return {
      at: column('at'),
      events_per_s: column('events_per_s'),
      reads_per_s: column('reads_per_s'),
      event_ms_p99: column('event_ms_p99'),
      read_ms_p99: column('read_ms_p99'),
    };
  }
}

export function paceBetween(before: Sample, after: Sample): PaceValue {
  const seconds = (after.at - before.at) / 1000;
  const { traffic: was } = before;
  const { traffic: is } = after;
  return {
    events_per_s: Math.max(0, after.accepted - before.accepted) / seconds,
    reads_per_s: Math.max(0, is.reads.total - was.reads.total) / seconds,
    event_ms_p99: latencyMs(was.events, is.events),
    read_ms_p99: latencyMs(was.reads, is.reads),
  };
}

/** Returns the 99th percentile between two counts, interpolated as Prometheus' `histogram_quantile` does. */
function latencyMs(before: LatencyCounts, { boundsS, upTo, total }: LatencyCounts): number | null {
  const requests = total - before.total;
  if (requests <= 0) return null;
  const counts = upTo.map((count, i) => count - before.upTo[i]!);
  const rank = 0.99 * requests;
  const bucket = counts.findIndex((count) => count >= rank);
  if (bucket < 0) return boundsS.at(-1)! * 1000;
  const lower = bucket === 0 ? 0 : boundsS[bucket - 1]!;
  const below = bucket === 0 ? 0 : counts[bucket - 1]!;
  const share = (rank - below) / (counts[bucket]! - below);
  return (lower + (boundsS[bucket]! - lower) * share) * 1000;
}

/** Weight and gate of the first peers, sampled once a minute. */
export class WeightHistory {
  readonly #samples: { readonly at: number; readonly weight: Float32Array; readonly gate: Float32Array }[] = [];

  /** True once a minute has passed since the newest sample, or if the clock was set back. */
  isDue(at: number): boolean {
    const newest = this.#samples.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
    return at < newest || at >= newest + limits.weightSampleMs;
  }

  /** `peers`: all peers, or the first ones, in the order of their numbers. */
  add(at: number, peers: readonly PeerView[]): void {
    const sample = {
      at,
      weight: Float32Array.from(peers, ({ weight }) => weight),
      gate: Float32Array.from(peers, ({ tau }) => tau),
    };
    addTo(this.#samples, sample, limits.weightSamplesMax);
  }

  value({ index, weight, tau }: PeerView, now: number): WeightHistoryValue {
    const samples = this.#samples.filter(({ at }) => at < now);
    return {
      at: [...samples.map(({ at }) => at / 1000), now / 1000],
      weight: [...samples.map((sample) => sample.weight[index] ?? null), weight],
      gate: [...samples.map((sample) => sample.gate[index] ?? null), tau],
    };
  }
}

/** The newest changes of verdicts, from the change feed. Forgets a player that is erased. */
export class VerdictHistory implements FeedListener {
  /** The newest change of each player; the newest last. */
  readonly #changes = new Map<string, VerdictChangeValue>();

  async publish(rows: readonly ChangeRow[], mark: FeedPosition | null): Promise<void> {
    for (const { subject, player, was } of rows) {
      if (player === null) this.#changes.delete(subject);
      if (player === null || was === undefined || mark === null) continue;
      const { verdict } = player;
      this.#changes.delete(subject);
      this.#changes.set(subject, { subject_hash: subject, at: isoTime(mark.asOf), was, verdict });
      const [oldest] = this.#changes.keys();
      if (this.#changes.size > limits.verdictChangesMax && oldest !== undefined) this.#changes.delete(oldest);
    }
  }

  /** The changes so far stay true. */
  forgotten(): void {}

  value(): readonly VerdictChangeValue[] {
    return [...this.#changes.values()].reverse();
  }
}
