/** What a server tells of its event loop every `loopSampleMs`; times are in ms. */
export interface LoopSample {
  /** ms since 1970. */
  readonly at: number;
  /** How long the loop was late: the 99th percentile and the worst of this interval. */
  readonly p99: number;
  readonly max: number;
}

export const loopSampleMs = 100;
