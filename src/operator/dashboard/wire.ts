/** Declares the values that the dashboard's server and its page exchange beyond the operator's commands. Types only. */
import type { Verdict } from '../../core/vocabulary.js';
import type { VerdictCounts } from '../../group/api.js';
import type { StatusValue } from '../../operations/status-operation.js';

/** Fewer players are `sampled` than there are in a very large group. */
export type VerdictsValue = VerdictCounts['counts'] & Pick<VerdictCounts, 'sampled' | 'players'>;

/** The newest change of a player's verdict since the start of the node. */
export interface VerdictChangeValue {
  readonly subject_hash: string;
  readonly at: string;
  readonly was: Verdict;
  readonly verdict: Verdict;
}

export interface PaceValue {
  readonly events_per_s: number;
  readonly reads_per_s: number;
  /** Percentile in ms, interpolated within the buckets of the metrics. Null without requests in the last seconds. */
  readonly event_ms_p99: number | null;
  readonly read_ms_p99: number | null;
}

/** The state of the node, which an open page asks for every 2 s. Times are ISO 8601 in UTC here and below. */
export interface OverviewValue extends PaceValue {
  readonly at: string;
  readonly uptime_s: number;
  readonly status: StatusValue;
  /** Ids and names refused for forbidden characters since the start of the node. */
  readonly ids_refused: number;
  readonly verdicts: VerdictsValue | null;
}

/** Columns of the same length, oldest first; `at` in seconds since 1970, as plots need it. Null means no value. */
export type HistoryValue = { readonly [N in 'at' | keyof PaceValue]: readonly (number | null)[] };

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
  readonly clustered: boolean;
}

export interface RefusalValue {
  readonly error: string;
  readonly code: string;
  readonly details?: {
    readonly more?: readonly { readonly error: string }[];
  };
}
