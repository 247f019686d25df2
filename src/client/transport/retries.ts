/** Decides when a failed call is sent again: no sooner than the node requested, and before its deadline. */
import { bounds } from '../bounds.js';
import type { TrustError } from '../trust-error.js';
import { fullJitterMs, type Runtime } from './time.js';

export class Retries {
  readonly #endsAt: number;
  #sent = 0;
  #isLast = false;

  constructor(
    private readonly runtime: Runtime,
    deadlineMs: number,
  ) {
    this.#endsAt = runtime.elapsedMs() + deadlineMs;
  }

  get leftMs(): number {
    return this.#endsAt - this.runtime.elapsedMs();
  }

  /**
   * Returns the pause after this failure, in ms; null if the deadline leaves no room for another attempt. If the jitter
   * would exceed the deadline, one last attempt is made before it, with at least half of the remaining time.
   */
  pauseMs(failure: TrustError): number | null {
    const { retryAfterMs = 0 } = failure;
    const roomMs = this.leftMs - retryAfterMs;
    const isSent = failure.code !== 'circuit_open';
    const jitterMs = this.#jitterMs(isSent);
    if (jitterMs < roomMs) return retryAfterMs + jitterMs;
    if (roomMs <= 0 || (isSent && this.#isLast)) return null;
    this.#isLast = true;
    return retryAfterMs + (this.runtime.random() * roomMs) / 2;
  }

  /** Returns the jitter. Its window grows only with requests that were sent: the circuit has a window of its own. */
  #jitterMs(isSent: boolean): number {
    if (!isSent) return this.runtime.random() * bounds.breakerOpenMs;
    return fullJitterMs(this.runtime, this.#sent++, bounds.backoffBaseMs, bounds.backoffCapMs);
  }
}
