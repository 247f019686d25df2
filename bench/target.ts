/** A server that the load goes to: where it listens, which processes do its work, and what its event loop tells. */
import type { LoopSample } from './loop-sample.js';

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

/** Stops them all, also where one fails to; the first failure is the error. */
export async function stopAll(targets: readonly Target[]): Promise<void> {
  const outcomes = await Promise.allSettled(targets.map((target) => target.stop()));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
