/** Rates, latencies and peer weights of the last hours for the dashboard's plots, in ring buffers. */
import type { PeerView } from '../../group/api.js';
import { limits } from '../../limits.js';
import type { HistoryValue, WeightHistoryValue } from './wire.js';

/** Requests counted by their duration. */
export interface LatencyCounts {
  /** Upper bounds of the buckets in seconds, ascending; longer requests than the last bound are in no bucket. */
  readonly boundsS: readonly number[];
  /** Number of requests within each bound, since the start. */
  readonly upTo: readonly number[];
  /** Number of requests since the start. */
  readonly total: number;
}

/** Totals since the start of the node. */
export interface Traffic {
  readonly reads: LatencyCounts;
  readonly events: LatencyCounts;
  /** Ids and names refused for forbidden characters. */
  readonly idsRefused: number;
}

/** The values of one sample. */
export interface Sample {
  /** ms since 1970. */
  readonly at: number;
  /** Number of events ever accepted. */
  readonly accepted: number;
  readonly traffic: Traffic;
}

/** Rates and latencies between two samples. */
export interface Pace {
  readonly eventsPerS: number;
  readonly readsPerS: number;
  /** The 99th percentile; null if there were no requests between the samples. */
  readonly eventMs: number | null;
  readonly readMs: number | null;
}

const still: Pace = { eventsPerS: 0, readsPerS: 0, eventMs: null, readMs: null };

/** A ring buffer of the newest `size` items. */
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
