/**
 * Chooses the node that the feed reads from: the first of the list that has not failed since a stream was last current.
 * While another node is in use, it checks regularly whether a node before it in the list is ready again.
 */
import { bounds } from '../bounds.js';
import { linked } from '../transport/listeners.js';
import { pause, type Runtime } from '../transport/time.js';
import { answerOf, type Transport } from '../transport/transport.js';

export class FeedNodes {
  readonly #transports: readonly Transport[];
  readonly #runtime: Runtime;
  readonly #readyPath: string;
  readonly #failed = new Set<number>();
  #current = 0;

  constructor(transports: readonly Transport[], runtime: Runtime, readyPath: string) {
    this.#transports = transports;
    this.#runtime = runtime;
    this.#readyPath = readyPath;
  }

  get count(): number {
    return this.#transports.length;
  }

  get current(): number {
    return this.#current;
  }

  get transport(): Transport {
    return this.#transports[this.#current]!;
  }

  /** Notes that the stream of the present node is current. */
  succeeded(): void {
    this.#failed.clear();
  }

  /** Moves on after a failure. False if all nodes have failed; the preferred one is then next again. */
  moveOn(): boolean {
    this.#failed.add(this.#current);
    const next = this.#transports.findIndex((_, index) => !this.#failed.has(index));
    if (next < 0) this.#failed.clear();
    this.#current = Math.max(0, next);
    return next >= 0;
  }

  moveTo(index: number): void {
    this.#current = index;
  }

  /** Resolves with the index of a node before the present one, once it is ready. Rejects once `signal` aborts. */
  async betterNode(signal: AbortSignal): Promise<number> {
    for (;;) {
      // Between half and all of the interval, so that a fleet of game servers does not reconnect at the same time.
      await pause(this.#runtime, bounds.streamPreferMs * (0.5 + this.#runtime.random() / 2), signal);
      for (let index = 0; index < this.#current; index++) {
        if (await this.#isReady(this.#transports[index]!, signal)) return index;
      }
    }
  }

  async #isReady(transport: Transport, outer: AbortSignal): Promise<boolean> {
    const { controller, release } = linked(outer);
    const stop = this.#runtime.after(bounds.failoverAttemptMs, () => controller.abort(new Error('no answer in time')));
    try {
      const request = { method: 'GET', path: this.#readyPath, headers: {}, signal: controller.signal } as const;
      const { status, body } = await answerOf(transport, request);
      for await (const _ of body);
      return status === 200;
    } catch {
      outer.throwIfAborted();
      return false;
    } finally {
      stop();
      release();
      controller.abort();
    }
  }
}
