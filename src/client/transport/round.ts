/** Chooses the node that a call tries next: the first that is not failing and was not tried in this round. */
import { TrustError } from '../trust-error.js';
import type { Breaker } from './breaker.js';
import type { Runtime } from './time.js';
import type { Transport } from './transport.js';

export interface CallNode {
  readonly transport: Transport;
  readonly breaker: Breaker;
}

export class Round {
  readonly #nodes: readonly CallNode[];
  readonly #runtime: Runtime;
  readonly #tried = new Set<CallNode>();
  /** Time until which a node asked this call to wait, by `elapsedMs`. */
  readonly #restUntil = new Map<CallNode, number>();

  constructor(nodes: readonly CallNode[], runtime: Runtime) {
    this.#nodes = nodes;
    this.#runtime = runtime;
  }

  /** Returns the node to try now. Throws `circuit_open` if all remaining nodes are failing. */
  next(): CallNode {
    const found = this.#nodes.find((node) => this.#waitMs(node) === 0 && node.breaker.admit() === 0);
    if (found !== undefined) {
      this.#tried.add(found);
      return found;
    }
    const text = 'the node failed several times in a row; requests to it are paused';
    throw new TrustError('circuit_open', text, { retryAfterMs: this.#soonestMs() });
  }

  /** True if another node may be tried at once. */
  get hasNext(): boolean {
    return this.#nodes.some((node) => !this.#tried.has(node) && this.#waitMs(node) === 0);
  }

  /** Notes that `node` asked to wait for `ms`. With a single node, the pause between two rounds has that effect. */
  skipFor(node: CallNode, ms: number): void {
    if (this.#nodes.length > 1) this.#restUntil.set(node, this.#runtime.elapsedMs() + ms);
  }

  /** Ends the round and returns the failure that determines the pause: one of its node waits for the soonest node. */
  end(error: TrustError, isOfNode: boolean): TrustError {
    this.#tried.clear();
    if (this.#nodes.length === 1 || !isOfNode) return error;
    return new TrustError(error.code, error.message, { retryAfterMs: this.#soonestMs() });
  }

  #waitMs(node: CallNode): number {
    if (this.#tried.has(node)) return Number.POSITIVE_INFINITY;
    const restMs = (this.#restUntil.get(node) ?? 0) - this.#runtime.elapsedMs();
    return Math.max(0, restMs, node.breaker.waitMs);
  }

  #soonestMs(): number {
    return Math.min(...this.#nodes.map((node) => this.#waitMs(node)));
  }
}
