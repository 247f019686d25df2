/**
 * When a call that met trouble is made again: no sooner than it was told to, spread by chance, and before its deadline.
 */
import { bounds } from '../bounds.js';
import type { TrustError } from '../trust-error.js';
import { fullJitterMs, type Runtime } from './runtime.js';

export class Retries {
  readonly #runtime: Runtime;
  readonly #endsAt: number;
  #sent = 0;
  #isLast = false;

  constructor(runtime: Runtime, deadlineMs: number) {
    this.#runtime = runtime;
    this.#endsAt = runtime.elapsedMs() + deadlineMs;
  }

  get leftMs(): number {
    return this.#endsAt - this.#runtime.elapsedMs();
  }

  /**
   * The pause after this trouble, in ms; null where the deadline has no room for another attempt. Where what chance
   * adds would pass the deadline, one last attempt is made before it, with half of the time that is left or more.
   */
  pauseMs(failure: TrustError): number | null {
    const { retryAfterMs = 0 } = failure;
    const roomMs = this.leftMs - retryAfterMs;
    const isSent = failure.code !== 'circuit_open';
    const jitterMs = this.#jitterMs(isSent);
    if (jitterMs < roomMs) return retryAfterMs + jitterMs;
    if (roomMs <= 0 || (isSent && this.#isLast)) return null;
    this.#isLast = true;
    return retryAfterMs + (this.#runtime.random() * roomMs) / 2;
  }

  /**
   * Only what was sent widens the window: the circuit has one of its own, and those that wait for it need no more than
   * not to come all at once.
   */
  #jitterMs(isSent: boolean): number {
    if (!isSent) return this.#runtime.random() * bounds.breakerOpenMs;
    return fullJitterMs(this.#runtime, this.#sent++, bounds.backoffBaseMs, bounds.backoffCapMs);
  }
}
