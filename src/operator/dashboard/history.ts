/** Rates, latencies and peer weights of the last hours for the dashboard's plots, in ring buffers. */
import type { PeerView } from '../../group/api.js';
import type { LatencyCounts, Traffic } from '../../group/ports/observer.js';
import type { ChangeRow, FeedListener, FeedPosition } from '../../group/verdict-changes.js';
import { limits } from '../../limits.js';
import { isoTime } from '../../operations/operation.js';
import type { HistoryValue, VerdictChangeValue, WeightHistoryValue } from './wire.js';

export interface Sample {
  /** ms since 1970. */
  readonly at: number;
  readonly accepted: number;
  readonly traffic: Traffic;
}

export interface Pace {
  readonly eventsPerS: number;
  readonly readsPerS: number;
  /** The 99th percentile; null if there were no requests between the samples. */
  readonly eventMs: number | null;
  readonly readMs: number | null;
}

const still: Pace = { eventsPerS: 0, readsPerS: 0, eventMs: null, readMs: null };

class Ring<T> {
  readonly #size: number;
  readonly #samples: T[] = [];
  #next = 0;

  constructor(size: number) {
    this.#size = size;
  }

  push(thing: T): void {
    this.#samples[this.#next] = thing;
    this.#next = (this.#next + 1) % this.#size;
  }

  /** Oldest first. */
  all(): T[] {
    return [...this.#samples.slice(this.#next), ...this.#samples.slice(0, this.#next)];
  }
}

export class PaceHistory {
  readonly #paces = new Ring<Pace & { readonly at: number }>(limits.paceSamplesMax);
  /** Samples of the window over which the newest pace is computed. */
  readonly #window: Sample[] = [];
  #now = still;

  get now(): Pace {
    return this.#now;
  }

  add(sample: Sample): void {
    const before = this.#window[0];
    this.#window.push(sample);
    if (this.#window.length > limits.paceWindowSamples) this.#window.shift();
    if (before === undefined || sample.at <= before.at) return;
    this.#now = paceBetween(before, sample);
    this.#paces.push({ ...this.#now, at: sample.at });
  }

  value(): HistoryValue {
    const paces = this.#paces.all();
    return {
      at: paces.map(({ at }) => at / 1000),
      events_per_s: paces.map(({ eventsPerS }) => eventsPerS),
      reads_per_s: paces.map(({ readsPerS }) => readsPerS),
      event_ms_p99: paces.map(({ eventMs }) => eventMs),
      read_ms_p99: paces.map(({ readMs }) => readMs),
    };
  }
}

export function paceBetween(before: Sample, after: Sample): Pace {
  const seconds = (after.at - before.at) / 1000;
  const { traffic: was } = before;
  const { traffic: is } = after;
  return {
    eventsPerS: Math.max(0, after.accepted - before.accepted) / seconds,
    readsPerS: Math.max(0, is.reads.total - was.reads.total) / seconds,
    eventMs: latencyMs(was.events, is.events),
    readMs: latencyMs(was.reads, is.reads),
  };
}

/** Returns the 99th percentile between two counts, interpolated as Prometheus' `histogram_quantile` does. */
function latencyMs(before: LatencyCounts, { boundsS, upTo, total }: LatencyCounts): number | null {
  const requests = total - before.total;
  if (requests <= 0) return null;
  const counts = upTo.map((count, i) => count - (before.upTo[i] ?? 0));
  const rank = 0.99 * requests;
  const bucket = counts.findIndex((count) => count >= rank);
  if (bucket < 0) return (boundsS.at(-1) ?? 0) * 1000;
  const lower = bucket === 0 ? 0 : boundsS[bucket - 1]!;
  const below = bucket === 0 ? 0 : counts[bucket - 1]!;
  const share = (rank - below) / Math.max(1, counts[bucket]! - below);
  return (lower + (boundsS[bucket]! - lower) * share) * 1000;
}

/** Weight and gate of the first peers, sampled once a minute, and earlier after new weights were published. */
export class WeightHistory {
  readonly #samples = new Ring<{ readonly at: number; readonly weight: Float32Array; readonly gate: Float32Array }>(
    limits.weightSamplesMax,
  );
  #sampledAt = Number.NEGATIVE_INFINITY;
  #computedAt: number | null = null;

  /** A sample is due earlier if weights were published since. A clock that was set back does not delay it. */
  isDue(at: number, computedAt: number | null): boolean {
    const pauseMs = computedAt === this.#computedAt ? limits.weightSampleMs : limits.weightSampleMsMin;
    return at < this.#sampledAt || at >= this.#sampledAt + pauseMs;
  }

  /** `peers`: all peers, or the first ones, in the order of their numbers. */
  add(at: number, computedAt: number | null, peers: readonly PeerView[]): void {
    this.#sampledAt = at;
    this.#computedAt = computedAt;
    this.#samples.push({
      at,
      weight: Float32Array.from(peers, ({ weight }) => weight),
      gate: Float32Array.from(peers, ({ tau }) => tau),
    });
  }

  /** Returns the history of one peer, ending with its present values. */
  value({ index, weight, tau }: PeerView, now: number): WeightHistoryValue {
    const samples = this.#samples.all().filter(({ at }) => at < now);
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

  /** The newest first. */
  value(): readonly VerdictChangeValue[] {
    return [...this.#changes.values()].reverse();
  }
}
