/** Time, so that a simulation can own it. */

/** Time and chance, so that a simulation can own both. */
export interface Clock {
  /** ms since 1970. */
  now(): number;
}

/** Waiting, so that a simulation can own it. */
export interface Timers {
  /** ms since some moment, by a clock that only runs forward. */
  elapsed(): number;
  /** Acts once what runs now is done, and what has arrived meanwhile is taken in. */
  soon(act: () => void): void;
  /** Acts after so many ms, and keeps no process alive for it. The result calls it off. */
  later(act: () => void, ms: number): () => void;
}
