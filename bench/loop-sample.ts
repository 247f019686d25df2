/** What a server tells of its event loop every `loopSampleMs`; times are in ms. */
export interface LoopSample {
  /** ms since 1970. */
  readonly at: number;
  /** How long the loop was late: the 50th and 99th percentile and the worst of this interval. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Share of the interval that the loop worked, 0 to 1. */
  readonly busy: number;
}

export const loopSampleMs = 100;
