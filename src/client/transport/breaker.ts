/** A circuit breaker: after several failures in a row nothing is sent for a while, then one request tests the node. */
import { bounds } from '../bounds.js';
import type { Runtime } from './time.js';

/** `trying`: one request is in flight, and the others wait for its result. */
type BreakerState = 'closed' | 'open' | 'trying';

export class Breaker {
  readonly #runtime: Runtime;
  #state: BreakerState = 'closed';
  #failures = 0;
  /** Number of times in a row that the circuit opened without a success in between. */
  #opened = 0;
  #openUntil = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** 0 if a request may be sent now; else the ms after which to ask again. */
  get waitMs(): number {
    if (this.#state === 'closed') return 0;
    const waitMs = this.#openUntil - this.#runtime.elapsedMs();
    return this.#state === 'trying' ? Math.max(waitMs, bounds.backoffBaseMs) : Math.max(0, waitMs);
  }

  /** Like `waitMs`. If the result is 0, the caller must send a request; in an open circuit that request is the test. */
  admit(): number {
    const { waitMs } = this;
    if (waitMs === 0 && this.#state === 'open') this.#state = 'trying';
    return waitMs;
  }

  succeeded(): void {
    this.#state = 'closed';
    this.#failures = 0;
    this.#opened = 0;
  }

  failed(): void {
    this.#failures++;
    if (this.#state === 'closed' && this.#failures < bounds.breakerFailures) return;
    // Failures of requests that were in flight when the circuit opened add no information.
    if (this.#state === 'open') return;
    const windowMs = Math.min(bounds.breakerOpenMaxMs, bounds.breakerOpenMs * 2 ** this.#opened);
    this.#opened++;
    this.#state = 'open';
    // Between half and all of the window, so that a fleet of game servers does not return at the same time.
    this.#openUntil = this.#runtime.elapsedMs() + windowMs * (0.5 + this.#runtime.random() / 2);
  }

  /** Notes that the caller aborted a request, which gave no result. */
  abandoned(): void {
    if (this.#state === 'trying') this.#state = 'open';
  }
}
