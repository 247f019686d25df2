/**
 * The circuit breaker: after several failures in a row the node is left alone for a while, then one request at a time
 * tries whether it is back. Owns no timer: whoever asks brings the time by its runtime.
 */
import { bounds } from '../bounds.js';
import type { Runtime } from './runtime.js';

/** `closed`: requests pass. `open`: none does. `trying`: one is on its way, the others wait for what it finds. */
type BreakerState = 'closed' | 'open' | 'trying';

export class Breaker {
  readonly #runtime: Runtime;
  #state: BreakerState = 'closed';
  #failures = 0;
  /** How often in a row it opened without a success between. */
  #opened = 0;
  #openUntil = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** 0 where a request may go now; else the ms after which it is worth asking again. */
  get waitMs(): number {
    if (this.#state === 'closed') return 0;
    const waitMs = this.#openUntil - this.#runtime.elapsedMs();
    return this.#state === 'trying' ? Math.max(waitMs, bounds.backoffBaseMs) : Math.max(0, waitMs);
  }

  /** The same. Where a request may go, the caller sends one, and it is the one that tries an open circuit. */
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
    // Those that were on their way when it opened say nothing new.
    if (this.#state === 'open') return;
    const windowMs = Math.min(bounds.breakerOpenMaxMs, bounds.breakerOpenMs * 2 ** this.#opened);
    this.#opened++;
    this.#state = 'open';
    // Between half and all of the window, so that a fleet of game servers does not come back as one.
    this.#openUntil = this.#runtime.elapsedMs() + windowMs * (0.5 + this.#runtime.random() / 2);
  }

  /** A request was given up by its caller and found nothing out. */
  abandoned(): void {
    if (this.#state === 'trying') this.#state = 'open';
  }
}
