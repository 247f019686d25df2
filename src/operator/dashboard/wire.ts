/** Declares the values that the dashboard's server and its page exchange beyond the operator's commands. Types only. */
import type { StatusValue } from '../../operations/status.js';

export interface VerdictsValue {
  readonly trusted: number;
  readonly neutral: number;
  readonly suspicious: number;
  readonly untrusted: number;
  /** Number of examined players; fewer than `players` in a very large group. */
  readonly sampled: number;
  readonly players: number;
}

/** The state of the node, sent to every open page every few seconds. Times are ISO 8601 in UTC here and below. */
export interface OverviewValue {
  readonly at: string;
  readonly uptime_s: number;
  readonly status: StatusValue;
  readonly events_per_s: number;
  readonly reads_per_s: number;
  /** Percentile in ms, interpolated within the buckets of the metrics. Null without requests in the last seconds. */
  readonly event_ms_p99: number | null;
  readonly read_ms_p99: number | null;
  /** Null before the first count. */
  readonly verdicts: VerdictsValue | null;
}

/** Columns of the same length, oldest first; `at` in seconds since 1970, as plots need it. Null means no value. */
export interface HistoryValue {
  readonly at: readonly number[];
  readonly events_per_s: readonly (number | null)[];
  readonly reads_per_s: readonly (number | null)[];
  readonly event_ms_p99: readonly (number | null)[];
  readonly read_ms_p99: readonly (number | null)[];
}

export interface WeightHistoryValue {
  readonly at: readonly number[];
  readonly weight: readonly (number | null)[];
  readonly gate: readonly (number | null)[];
}

export interface SessionValue {
  readonly operator: string | null;
  readonly expires_at: string;
  readonly group_id: string;
  readonly environment: string;
  /** Whether several nodes serve the group. */
  readonly clustered: boolean;
}

/** A player as the operator sees it: the values that every peer may read, and no peer's events. */
export interface PlayerValue {
  readonly subject_hash: string;
  /** The player's entry on the group's allow list. */
  readonly allowed: { readonly until: string; readonly note: string } | null;
  readonly score: number;
  readonly confidence: number;
  readonly verdict: 'trusted' | 'neutral' | 'suspicious' | 'untrusted';
  readonly event_count: number;
  readonly updated_at: string;
  readonly explain: {
    /** Null if fewer than three peers contributed: a split would reveal what a single peer reported. */
    readonly lowering: number | null;
    readonly raising: number | null;
    /** The reasons of the verdict, in words. */
    readonly reasons: readonly string[];
    readonly peers: number;
    readonly witnesses: number;
    readonly two_sided: boolean;
    readonly pre_trusted: boolean;
    readonly half_life_days: number;
    readonly ban_half_life_days: number;
    readonly weights_based_on_seq: number;
  };
  /** The public summary; it covers the newest `summarised` events. */
  readonly summarised: number;
  readonly summary: readonly {
    readonly event_type: string;
    /** ISO 8601 week; null on the row `other`, which is the only one if fewer than three peers contributed. */
    readonly week: string | null;
    readonly count: number;
  }[];
}

/** A peer that was registered in the hosted form. The key is shown only this once. */
export interface RegisteredValue {
  readonly peer_id: string;
  readonly api_key: string;
  readonly status: string;
  readonly peer_name: string;
  readonly game_ids: readonly string[];
  readonly registered_at: string;
}

/** The answer of a refused call. */
export interface RefusalValue {
  readonly error: string;
  readonly code: string;
  readonly details?: {
    /** Further errors in the same body. */
    readonly more?: readonly { readonly error: string }[];
  };
}
