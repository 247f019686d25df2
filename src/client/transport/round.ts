/**
 * Which node one call asks next: the first of the list that is not failing and was not tried in this round. A round
 * ends when every node was tried; the pause between two rounds is the caller's.
 */
import { TrustError } from '../trust-error.js';
import type { Breaker } from './breaker.js';
import type { Runtime } from './runtime.js';
import type { Transport } from './transport.js';

/** One node as calls of one kind see it. */
export interface CallNode {
  readonly transport: Transport;
  readonly breaker: Breaker;
}

export class Round {
  readonly #nodes: readonly CallNode[];
  readonly #runtime: Runtime;
  readonly #tried = new Set<CallNode>();
  /** Until when a node asked this call to leave it alone, by `elapsedMs`. */
  readonly #restUntil = new Map<CallNode, number>();

  constructor(nodes: readonly CallNode[], runtime: Runtime) {
    this.#nodes = nodes;
    this.#runtime = runtime;
  }

  /** The node to ask now. Throws `circuit_open` where all of those that are left are failing. */
  next(): CallNode {
    const found = this.#nodes.find((node) => this.#waitMs(node) === 0 && node.breaker.admit() === 0);
    if (found !== undefined) {
      this.#tried.add(found);
      return found;
    }
    const text = 'the node failed several times in a row and is left alone for a moment';
    throw new TrustError('circuit_open', text, { retryAfterMs: this.#soonestMs() });
  }

  /** Whether another node may be asked at once. */
  get hasNext(): boolean {
    return this.#nodes.some((node) => !this.#tried.has(node) && this.#waitMs(node) === 0);
  }

  /** `node` asked to be left alone for so long. Of a single node the pause between two rounds sees to that. */
  rests(node: CallNode, ms: number): void {
    if (this.#nodes.length > 1) this.#restUntil.set(node, this.#runtime.elapsedMs() + ms);
  }

  /**
   * Ends the round after its last trouble. The trouble by which to pause: where it is of one node, the wait of the node
   * that is free soonest counts.
   */
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
