/** Receives measurements, such as for metrics. Called on the hot path: implementations only count. */
export interface GroupObserver {
  /** One durable commit: its records, the bytes written, and the ms from hand-over to durability. */
  turnCommitted(records: number, bytes: number, commitMs: number): void;
  /** Number of submitted events that were decided alike; `outcome` is `accepted` or the code of their refusal. */
  eventsDecided(eventType: string, outcome: string, events: number): void;
  workDone(kind: 'snapshot' | 'redaction' | 'weights', ok: boolean, ms: number): void;
}

/** Requests counted by their duration, since the start. */
export interface LatencyCounts {
  /** Upper bounds of the buckets in seconds, ascending; longer requests than the last bound are in no bucket. */
  readonly boundsS: readonly number[];
  readonly upTo: readonly number[];
  readonly total: number;
}

/** Totals of the public port since the start of the node. */
export interface Traffic {
  readonly reads: LatencyCounts;
  readonly events: LatencyCounts;
  /** Ids and names refused for forbidden characters. */
  readonly idsRefused: number;
}
