/** A server that the load goes to: where it listens, which processes do its work, and the delays of its event loop. */

/** A report of a server about its event loop, every `loopSampleMs`; times are in ms. */
export interface LoopSample {
  /** ms since 1970. */
  readonly at: number;
  /** How long the loop was late: the 99th percentile and the worst of this interval. */
  readonly p99: number;
  readonly max: number;
}

export const loopSampleMs = 100;

export interface Target {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** All processes that serve it; their children count too. */
  readonly pids: readonly number[];
  /** Oldest first; empty where it is no Node process. */
  readonly loopSamples: readonly LoopSample[];
  stop(): Promise<void>;
}
