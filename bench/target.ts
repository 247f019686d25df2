/** A server under load: its address, the processes that do its work, and the delays of its event loop. */

/** A report of a server about its event loop, every `loopSampleMs`; times are in ms. */
export interface LoopSample {
  /** ms since 1970. */
  readonly at: number;
  /** Delay of the loop in this interval: the 99th percentile and the maximum. */
  readonly p99: number;
  readonly max: number;
}

export const loopSampleMs = 100;

export interface Target {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** All processes of the server; their children count too. */
  readonly pids: readonly number[];
  /** Oldest first; empty if the server is no Node process. */
  readonly loopSamples: readonly LoopSample[];
  stop(): Promise<void>;
}
