/** Receives measurements, such as for metrics. Called on the hot path: implementations only count. */
export interface GroupObserver {
  /** One durable commit: its records, the bytes written, and the ms from hand-over to durability. */
  turnCommitted(records: number, bytes: number, commitMs: number): void;
  /** Number of submitted events that were decided alike; `outcome` is `accepted` or the code of their refusal. */
  eventsDecided(eventType: string, outcome: string, events: number): void;
  workDone(kind: 'snapshot' | 'redaction' | 'weights', ok: boolean, ms: number): void;
}
