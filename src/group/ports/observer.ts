/** Whoever measures a group. */

/** What a group tells whoever measures it. Called on the hot path: implementations only count. */
export interface GroupObserver {
  /** One durable commit: records in it, bytes written, ms from hand-over to durable. */
  turnCommitted(records: number, bytes: number, commitMs: number): void;
  /** So many submitted events were decided alike; `outcome` is `accepted` or the code of their refusal. */
  eventsDecided(eventType: string, outcome: string, events: number): void;
  /** The pool finished or failed a piece of work, in ms. */
  workDone(kind: 'snapshot' | 'redaction' | 'weights', ok: boolean, ms: number): void;
}
