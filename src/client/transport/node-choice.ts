/** Chooses the node that a call tries next, among those whose circuit breaker lets a request through. */
import { bounds } from '../bounds.js';
import { TrustError } from '../trust-error.js';
import type { Runtime } from './time.js';
import type { Transport } from './transport.js';

/** `trying`: one request is in flight, and the others wait for its result. */
type BreakerState = 'closed' | 'open' | 'trying';

/** After several failures in a row nothing is sent to a node for a while, then one request tests it. */
export class Breaker {
  #state: BreakerState = 'closed';
  #failures = 0;
  /** Number of times in a row that the circuit opened without a success in between. */
  #opened = 0;
  #openUntil = 0;

  constructor(private readonly runtime: Runtime) {}

  /** 0 if a request may be sent now; else the ms after which to ask again. */
  get waitMs(): number {
    if (this.#state === 'closed') return 0;
    const waitMs = this.#openUntil - this.runtime.elapsedMs();
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
    this.#openUntil = this.runtime.elapsedMs() + windowMs * (0.5 + this.runtime.random() / 2);
  }

  /** Notes that the caller aborted a request, which gave no result. */
  abandoned(): void {
    if (this.#state === 'trying') this.#state = 'open';
  }
}

export interface CallNode {
  readonly transport: Transport;
  readonly breaker: Breaker;
}

/** One round over the nodes: each is tried once, the first that is not failing before the others. */
export class Round {
  readonly #tried = new Set<CallNode>();
  /** Time until which a node asked this call to wait, by `elapsedMs`. */
  readonly #restUntil = new Map<CallNode, number>();

  constructor(
    private readonly nodes: readonly CallNode[],
    private readonly runtime: Runtime,
  ) {}

  /** Returns the node to try now. Throws `circuit_open` if all remaining nodes are failing. */
  next(): CallNode {
    const found = this.nodes.find((node) => this.#waitMs(node) === 0 && node.breaker.admit() === 0);
    if (found !== undefined) {
      this.#tried.add(found);
      return found;
    }
    const text = 'the node failed several times in a row; requests to it are paused';
    throw new TrustError('circuit_open', text, { retryAfterMs: this.#soonestMs() });
  }

  /** True if another node may be tried at once. */
  get hasNext(): boolean {
    return this.nodes.some((node) => !this.#tried.has(node) && this.#waitMs(node) === 0);
  }

  /** Notes that `node` asked to wait for `ms`. With a single node, the pause between two rounds has that effect. */
  skipFor(node: CallNode, ms: number): void {
    if (this.nodes.length > 1) this.#restUntil.set(node, this.runtime.elapsedMs() + ms);
  }

  /** Ends the round and returns the failure that determines the pause: one of its node waits for the soonest node. */
  end(error: TrustError, isOfNode: boolean): TrustError {
    this.#tried.clear();
    if (this.nodes.length === 1 || !isOfNode) return error;
    return new TrustError(error.code, error.message, { retryAfterMs: this.#soonestMs() });
  }

  #waitMs(node: CallNode): number {
    if (this.#tried.has(node)) return Number.POSITIVE_INFINITY;
    const restMs = (this.#restUntil.get(node) ?? 0) - this.runtime.elapsedMs();
    return Math.max(0, restMs, node.breaker.waitMs);
  }

  #soonestMs(): number {
    return Math.min(...this.nodes.map((node) => this.#waitMs(node)));
  }
}
